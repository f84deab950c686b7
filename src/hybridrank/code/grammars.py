"""What each grammar calls the things that we look for: one row a language.

A row that needs code names a function of `node_rules`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from . import node_rules as rules
from .grammar import Define, DefineOf, Grammar, Import, ImportOf
from .node_rules import NO_NAMES

_CLASS = Define("class", members=True)
_FUNCTION = Define("function")
_METHOD = Define("method")
_ALIAS = Define("class", inside=False)
_OVERLOADED = Define("function", rules.js_key_name, one_with=rules.always)


def _all(define: Define | DefineOf, *kinds: str) -> dict[str, Define | DefineOf]:
    return dict.fromkeys(kinds, define)


PYTHON = Grammar(
    module="tree_sitter_python",
    extra="",
    definitions={
        "function_definition": _FUNCTION,
        "class_definition": _CLASS,
    },
    wrappers=frozenset({"decorated_definition"}),
    blocks=frozenset(
        {
            "block",
            *("if_statement", "elif_clause", "else_clause"),
            *("try_statement", "except_clause", "finally_clause"),
            *("for_statement", "while_statement", "with_statement"),
            *("match_statement", "case_clause"),
        }
    ),
    imports={
        "import_statement": Import(),
        "import_from_statement": Import(),
        "future_import_statement": NO_NAMES,
    },
)

JAVASCRIPT = Grammar(
    module="tree_sitter_javascript",
    definitions={
        **_all(_OVERLOADED, "function_declaration", "generator_function_declaration", "method_definition"),
        "class_declaration": _CLASS,
        "class": Define("class", rules.named(""), members=True),
        **_all(rules.js_binding, "lexical_declaration", "variable_declaration"),
        "export_statement": rules.js_default,
        "assignment_expression": rules.js_assignment,
        "pair": rules.js_member("key"),
        "field_definition": rules.js_member("property"),
    },
    wrappers=frozenset({"export_statement", "expression_statement"}),
    blocks=frozenset(
        {
            *("class_body", "object", "statement_block", "variable_declarator", "assignment_expression"),
            *("lexical_declaration", "variable_declaration", "export_statement", "expression_statement"),
            *("if_statement", "else_clause", "try_statement", "catch_clause", "finally_clause"),
            *("for_statement", "for_in_statement", "while_statement", "labeled_statement"),
            *("call_expression", "arguments", "parenthesized_expression", "unary_expression"),
            *("arrow_function", "function_expression", "await_expression", "sequence_expression"),
        }
    ),
    imports={
        "import_statement": NO_NAMES,
        **dict[str, Import | ImportOf].fromkeys(
            ("lexical_declaration", "variable_declaration"), rules.js_require
        ),
    },
    comments=frozenset({"comment", "decorator"}),
)

TYPESCRIPT = replace(
    JAVASCRIPT,
    module="tree_sitter_typescript",
    function="language_typescript",
    definitions={
        **JAVASCRIPT.definitions,
        **_all(_OVERLOADED, "function_signature", "method_signature", "abstract_method_signature"),
        **_all(_CLASS, "abstract_class_declaration", "interface_declaration"),
        **_all(_ALIAS, "type_alias_declaration", "enum_declaration"),
        **_all(Define("module", rules.js_module_name, members=True), "internal_module", "module"),
        "public_field_definition": rules.js_member("name"),
    },
    wrappers=JAVASCRIPT.wrappers | {"ambient_declaration"},
    blocks=JAVASCRIPT.blocks
    | {"interface_body", "ambient_declaration", "as_expression", "satisfies_expression"},
)

TSX = replace(TYPESCRIPT, function="language_tsx")

GO = Grammar(
    module="tree_sitter_go",
    definitions={
        "function_declaration": _FUNCTION,
        "method_declaration": Define("method", rules.go_method_name),
        **_all(_CLASS, "type_spec", "type_alias"),
        "method_elem": _METHOD,
    },
    wrappers=frozenset({"type_declaration"}),
    blocks=frozenset({"type_declaration", "interface_type"}),
    imports={"import_declaration": NO_NAMES},
)

RUST = Grammar(
    module="tree_sitter_rust",
    definitions={
        **_all(_FUNCTION, "function_item", "function_signature_item", "macro_definition"),
        **_all(Define("class"), "struct_item", "enum_item", "union_item"),
        "type_item": _ALIAS,
        "trait_item": _CLASS,
        "impl_item": Define("class_body", rules.rust_impl_name, members=True),
        "mod_item": rules.with_field("body", Define("module", members=True)),
    },
    blocks=frozenset({"declaration_list", "foreign_mod_item"}),
    imports={"use_declaration": NO_NAMES, "extern_crate_declaration": NO_NAMES},
    comments=frozenset({"line_comment", "block_comment", "attribute_item"}),
)

JAVA = Grammar(
    module="tree_sitter_java",
    definitions={
        **_all(_CLASS, "class_declaration", "interface_declaration", "enum_declaration"),
        **_all(_CLASS, "record_declaration", "annotation_type_declaration"),
        **_all(_METHOD, "method_declaration", "constructor_declaration", "compact_constructor_declaration"),
        "annotation_type_element_declaration": _METHOD,
    },
    blocks=frozenset(
        {"class_body", "interface_body", "enum_body", "enum_body_declarations", "annotation_type_body"}
    ),
    imports={"import_declaration": NO_NAMES},
    comments=frozenset({"line_comment", "block_comment"}),
)

C = Grammar(
    module="tree_sitter_c",
    definitions={
        "function_definition": rules.c_function,
        "preproc_function_def": _FUNCTION,
        **_all(rules.c_specifier, "struct_specifier", "union_specifier", "enum_specifier"),
        "type_definition": Define("class", rules.c_name, inside=False),
    },
    wrappers=frozenset({"declaration"}),
    blocks=frozenset({"declaration_list", "compound_statement", "labeled_statement"}),
    through=frozenset(
        {
            *("preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "preproc_elifdef"),
            "linkage_specification",
        }
    ),
    imports={"preproc_include": NO_NAMES},
    prepare=rules.without_macros,
)

CPP = replace(
    C,
    module="tree_sitter_cpp",
    definitions={
        **C.definitions,
        "class_specifier": rules.c_specifier,
        **_all(_ALIAS, "alias_declaration", "concept_definition"),
        "namespace_definition": Define("module", rules.cpp_name, members=True),
    },
    wrappers=C.wrappers | {"template_declaration", "friend_declaration", "field_declaration"},
    blocks=C.blocks | {"field_declaration_list"},
)

CSHARP = Grammar(
    module="tree_sitter_c_sharp",
    definitions={
        **_all(rules.namespace, "namespace_declaration", "file_scoped_namespace_declaration"),
        **_all(_CLASS, "class_declaration", "struct_declaration", "interface_declaration"),
        **_all(_CLASS, "record_declaration", "record_struct_declaration", "enum_declaration"),
        "delegate_declaration": Define("class"),
        **_all(_METHOD, "method_declaration", "constructor_declaration"),
        "destructor_declaration": Define("method", rules.csharp_destructor_name),
        "operator_declaration": Define("method", rules.csharp_operator_name),
        "conversion_operator_declaration": Define("method", rules.csharp_operator_name),
        "indexer_declaration": Define("method", rules.named("this[]")),
        "property_declaration": rules.csharp_property,
        "local_function_statement": _FUNCTION,
    },
    wrappers=frozenset({"global_statement"}),
    blocks=frozenset({"declaration_list"}),
    through=frozenset({"preproc_if", "preproc_else", "preproc_elif", "preproc_region"}),
    imports={"using_directive": NO_NAMES},
)

RUBY = Grammar(
    module="tree_sitter_ruby",
    definitions={
        **_all(_FUNCTION, "method", "singleton_method"),
        **_all(Define("class", rules.split_name, members=True), "class", "module"),
        "assignment": rules.ruby_assignment,
        "call": rules.ruby_call,
    },
    blocks=frozenset(
        {
            *("body_statement", "singleton_class", "call", "argument_list", "do_block", "block"),
            *("block_body", "if", "unless", "else", "elsif", "then", "begin", "if_modifier"),
            *("unless_modifier", "rescue", "ensure"),
        }
    ),
    imports={"call": rules.import_call("require", "require_relative", "load", field="method")},
)

PHP = Grammar(
    module="tree_sitter_php",
    function="language_php",
    definitions={
        "namespace_definition": rules.namespace,
        "function_definition": _FUNCTION,
        "method_declaration": _METHOD,
        **_all(_CLASS, "class_declaration", "interface_declaration", "trait_declaration"),
        "enum_declaration": _CLASS,
    },
    blocks=frozenset(
        {
            *("declaration_list", "enum_declaration_list", "compound_statement", "colon_block"),
            *("if_statement", "else_clause", "else_if_clause", "return_statement", "anonymous_class"),
            *("object_creation_expression",),
        }
    ),
    imports={"namespace_use_declaration": NO_NAMES},
)

BASH = Grammar(
    module="tree_sitter_bash",
    definitions={"function_definition": _FUNCTION},
    blocks=frozenset(
        {
            *("if_statement", "elif_clause", "else_clause", "compound_statement", "do_group"),
            *("case_statement", "case_item", "for_statement", "while_statement", "list", "subshell"),
        }
    ),
    imports={"command": rules.import_call("source", ".", field="name")},
)

KOTLIN = Grammar(
    module="tree_sitter_kotlin",
    definitions={
        "function_declaration": _FUNCTION,
        "secondary_constructor": Define("method", rules.named("constructor")),
        "property_declaration": rules.with_child(
            {"getter", "setter"}, Define("function", rules.kotlin_property_name)
        ),
        **_all(_CLASS, "class_declaration", "object_declaration"),
        "type_alias": Define("class", ("type",)),
    },
    blocks=frozenset({"class_body", "enum_class_body", "companion_object"}),
    imports={"import": NO_NAMES},
    comments=frozenset({"line_comment", "block_comment"}),
)

SWIFT = Grammar(
    module="tree_sitter_swift",
    definitions={
        **_all(_FUNCTION, "function_declaration", "protocol_function_declaration"),
        "init_declaration": Define("method", rules.named("init")),
        "deinit_declaration": Define("method", rules.named("deinit")),
        "subscript_declaration": Define("method", rules.named("subscript")),
        "property_declaration": rules.with_field("computed_value", Define("function", ("name",))),
        "class_declaration": rules.swift_class,
        "protocol_declaration": _CLASS,
        "typealias_declaration": _ALIAS,
    },
    blocks=frozenset({"class_body", "enum_class_body", "protocol_body"}),
    imports={"import_declaration": NO_NAMES},
    comments=frozenset({"comment", "multiline_comment"}),
)

SCALA = Grammar(
    module="tree_sitter_scala",
    definitions={
        **_all(_FUNCTION, "function_definition", "function_declaration"),
        **_all(_CLASS, "class_definition", "trait_definition", "object_definition", "enum_definition"),
        **_all(_CLASS, "given_definition", "package_object"),
        "type_definition": _ALIAS,
    },
    blocks=frozenset(
        {
            *("template_body", "enum_body", "with_template_body", "extension_definition"),
            *("package_clause", "indented_block", "block"),
        }
    ),
    imports={"import_declaration": NO_NAMES},
    comments=frozenset({"comment", "block_comment"}),
)

LUA = Grammar(
    module="tree_sitter_lua",
    definitions={
        "function_declaration": rules.lua_function,
        "assignment_statement": rules.lua_assignment,
        "field": rules.lua_field,
    },
    wrappers=frozenset({"variable_declaration"}),
    blocks=frozenset(
        {
            "assignment_statement",
            "expression_list",
            "table_constructor",
            "block",
            "do_statement",
            "if_statement",
            "elseif_statement",
            "else_statement",
        }
    ),
    imports={"variable_declaration": rules.lua_require},
)

HASKELL = Grammar(
    module="tree_sitter_haskell",
    definitions={
        **_all(
            Define("function", rules.haskell_name, one_with=rules.always),
            *("signature", "function", "bind", "pattern_synonym", "foreign_import"),
        ),
        **_all(Define("class"), "data_type", "newtype", "type_synomym", "type_synonym", "type_family"),
        **_all(Define("class"), "data_family"),
        "class": _CLASS,
        "instance": Define("class_body", rules.haskell_instance_name),
    },
    blocks=frozenset({"class_declarations"}),
    through=frozenset({"imports", "declarations"}),
    imports={"import": NO_NAMES},
    comments=frozenset({"comment", "haddock", "pragma"}),
)

ELIXIR = Grammar(
    module="tree_sitter_elixir",
    definitions={"call": rules.elixir_call},
    blocks=frozenset({"do_block", "call", "else_block"}),
    imports={"call": rules.elixir_import},
    comments=frozenset({"comment", "unary_operator"}),
)

ZIG = Grammar(
    module="tree_sitter_zig",
    definitions={
        "function_declaration": _FUNCTION,
        "variable_declaration": rules.zig_variable,
        "test_declaration": rules.ZIG_TEST,
    },
    blocks=frozenset({"struct_declaration", "enum_declaration", "union_declaration", "opaque_declaration"}),
    imports={"variable_declaration": rules.zig_import},
)

GDSCRIPT = Grammar(
    module="tree_sitter_gdscript",
    extra="gdscript",
    definitions={
        "class_name_statement": Define("class", rank=1),
        "class_definition": _CLASS,
        "function_definition": _FUNCTION,
        "constructor_definition": Define("function", rules.named("_init")),
        "enum_definition": Define("class"),
    },
    blocks=frozenset({"class_body"}),
    comments=frozenset({"comment", "annotation"}),
)

MARKDOWN = Grammar(
    module="tree_sitter_markdown",
    definitions=_all(rules.markdown_heading, "atx_heading", "setext_heading"),
    through=frozenset({"section"}),
    comments=frozenset(),
    separator=" > ",
    rest="section",
)

GRAMMARS: Mapping[str, Grammar] = {
    "bash": BASH,
    "c": C,
    "cpp": CPP,
    "csharp": CSHARP,
    "elixir": ELIXIR,
    "gdscript": GDSCRIPT,
    "go": GO,
    "haskell": HASKELL,
    "java": JAVA,
    "javascript": JAVASCRIPT,
    "kotlin": KOTLIN,
    "lua": LUA,
    "markdown": MARKDOWN,
    "php": PHP,
    "python": PYTHON,
    "ruby": RUBY,
    "rust": RUST,
    "scala": SCALA,
    "swift": SWIFT,
    "tsx": TSX,
    "typescript": TYPESCRIPT,
    "zig": ZIG,
}
"""By the name of the language."""
