"""Whether a contract lets one choose among methods by what its cases show."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import ConfigError

_WHERE = "evaluation.selection_policy"
_FORBIDS = ("do_not_select", "no_selection")


def forbids_selection(contract: Mapping[str, Any]) -> str:
    """The contract's `evaluation.selection_policy` where it forbids selection, else `""`.

    A policy forbids it when it begins with `do_not_select` or `no_selection`, in whatever case, with
    hyphens or spaces for the underscores. A contract without a policy allows it.

    Raises:
        ConfigError: the policy is not a str, or `evaluation` is no table.
    """
    evaluation = contract.get("evaluation", {})
    if not isinstance(evaluation, Mapping):
        raise ConfigError(f"{evaluation!r} stands where a table is expected", where="evaluation")
    policy = evaluation.get("selection_policy", "")
    if not isinstance(policy, str):
        raise ConfigError(f"the policy is {policy!r}; give a str", where=_WHERE)
    return policy if re.sub(r"[-\s]+", "_", policy.strip().lower()).startswith(_FORBIDS) else ""


def contract_policy(path: str | Path) -> str:
    """`forbids_selection` of a contract file.

    Raises:
        ConfigError: the file cannot be read or holds no JSON object, or as `forbids_selection`.
    """
    try:
        contract = json.loads(Path(path).read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        raise ConfigError(f"there is no file {str(path)!r}; give the path of a contract") from None
    except RecursionError:
        raise ConfigError(f"{path}: nested too deeply") from None
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: cannot be read as JSON: {error}") from error
    if not isinstance(contract, dict):
        raise ConfigError(f"{path}: a contract is a JSON object, not {type(contract).__name__}")
    return forbids_selection(contract)


def refuse_selection(policy: str, what: str) -> None:
    """Raise where the policy forbids selection.

    Args:
        policy: as `forbids_selection` gives it.
        what: what would select, for the message.

    Raises:
        ConfigError: it does.
    """
    if policy:
        raise ConfigError(
            f"the contract's policy is {policy!r}, and {what} would choose by what its cases show; use cases "
            "that are kept for tuning",
            where=_WHERE,
        )
