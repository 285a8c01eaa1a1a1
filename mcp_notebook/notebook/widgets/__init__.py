"""What is shown with ipywidgets."""
