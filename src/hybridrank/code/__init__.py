"""Code: walk a source tree, know its languages, cut it into documents."""
