"""What each pane shows, as lines made from plain data: no widget, no state of their own."""
