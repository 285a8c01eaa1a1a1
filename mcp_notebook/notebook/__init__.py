"""The only place that knows IPython and ipywidgets."""
