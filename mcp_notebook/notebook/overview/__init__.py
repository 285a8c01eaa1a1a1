"""What `%mcp` alone shows, whatever it is shown with: servers, what they offer, what is under way, what waits."""
