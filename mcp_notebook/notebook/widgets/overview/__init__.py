"""The overview as a card that lives: servers, searching and trying, open calls, open questions."""
