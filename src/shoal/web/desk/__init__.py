"""The desk: a work folder of the sanitizer as a browser sees it, quick enough for a reviewer who never waits."""
