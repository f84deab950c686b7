"""`python -m hybridrank` is the `hybridrank` command."""

import sys

from .cli import main

sys.exit(main())
