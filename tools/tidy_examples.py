"""For every rule of the tidy test a tree that breaks it and one that keeps it. Files not named here
are those of BASE."""

BASE = {
    "layers.txt": "base:\ncore/session: base | testing\ndaemon/api: base core/session\n"
                  "store/sqlite: base\ndaemon: base\n"
                  "testing: base\n",
    "src/base/error_codes.h": "// The error codes of the example.\n#pragma once\n"
                              'ROW(not_found, 404, not_found, "")\n',
    "src/base/limits.h": "// Every limit of the example.\n#pragma once\n"
                         "inline constexpr std::size_t depth_max = 64;\n",
    "docs/errors/not_found.md": "# not_found\n\nHTTP status 404, exit code 3, no actions.\n\n"
                                "## What happened\n\n## What to do\n",
    "docs/protocol/http.md": "| 404 | `not_found` |\n",
    "docs/limits.md": "| name |\n| `depth_max` | 64 |\n",
    "docs/requirements.txt": "J1 Records are numbered without a gap.\n",
    "docs/invariants.md": "| J1 | Gapless. |\n",
    "web/layers.txt": "core:\nui: core\n",
    "web/src/ui/a.ts": 'import { b } from "../core/b";\n',
}


def session(code):
    return {"src/core/session/machine.cc": f"// The machine of this example.\n{code}\n"}


def api(code):
    return {"src/daemon/api/routes.cc": f"// The routes of this example.\n{code}\n"}


def lines(count):
    return "".join("  step();\n" for _ in range(count))


def requirements(missing=""):
    from tidy_rules import REQUIREMENT_COUNTS
    ids = [f"{letter}{number}" for letter, count in REQUIREMENT_COUNTS.items()
           for number in range(1, count + 1)]
    return {"docs/requirements.txt": "".join(f"{i} A sentence.\n" for i in ids if i != missing)}


def components(without="", text=()):
    from tidy_rules import COMPONENTS
    files = {"docs/glossary.md": "".join(f"| {name} | here |\n" for name in COMPONENTS)}
    for places in COMPONENTS.values():
        for path, found in places:
            files[path] = files.get(path, "// A part of this example.\n") + found + "\n"
    if text:
        files[text[0]] = text[1]
    return {path: content for path, content in files.items() if path != without}


# rule: (trees that break it, trees that keep it)
EXAMPLES = {
    "layers_hold_for_every_include": (
        [session('#include "daemon/api/routes.h"'), session('#include "machine.h"'),
         session('#include "testing/agent.h"'),
         {"src/unknown/a.cc": "// A file of no component.\n"},
         {"src/base/a.cc": '// Looks up.\n#  include "core/session/machine.h"\n'}],
        [session('#include "base/result.h"\n#include "core/session/events.h"\n#include <api/x.h>'),
         session('// #include "daemon/api/routes.h"'),
         {"src/core/session/machine_test.cc": '// A test.\n#include "testing/agent.h"\n'},
         {"src/core/session/views/a.cc": '// A part of it.\n#include "base/result.h"\n'}]),
    "layers_grant_only_what_is_used": (
        [session("int a;"), session('#include "base/result.h"')],
        [{**session('#include "base/result.h"'),
          **api('#include "base/a.h"\n#include "core/session/a.h"'),
          "src/core/session/a_test.cc": '// A test.\n#include "testing/agent.h"\n',
          "layers.txt": "base:\ncore/session: base | testing\ndaemon/api: base core/session\n"
                        "testing:\n"}]),
    "layers_have_no_cycle": (
        [{"layers.txt": "base: core/session\ncore/session: base\n"},
         {"layers.txt": "base: base\n"}], [{}]),
    "deterministic_code_has_no_threads": (
        [session("std::thread writer;"), session("#include <mutex>"), session("std::mutex m;"),
         session("thread_local int n;"), session("pthread_create(0);"),
         {"src/store/sqlite/writer.cc": "// A writer.\nstd::jthread t;\n"}],
        [session("// std::thread is not used"), session('auto s = "std::thread";'),
         {"src/store/sqlite/writer.cc": "// A writer.\n#include <mutex>\nstd::mutex m;\n"},
         {"src/core/session/machine_test.cc": "// A test may.\nstd::thread t;\n"}]),
    "deterministic_code_reads_no_clock": (
        [session("auto t = std::chrono::steady_clock::now();"), session("auto t = time(nullptr);"),
         session("gettimeofday(&tv, 0);"), session("clock_gettime(CLOCK_BOOTTIME, &ts);"),
         session("auto t = std::time(0);"), session("#include <ctime>")],
        [session("Timestamp time() const;\nauto t = input.time(0);\nmilliseconds d;")]),
    "deterministic_code_has_no_randomness": (
        [session("int n = rand();"), session("std::random_device d;"),
         session("std::mt19937_64 g;"),
         session("RAND_bytes(b, 16);"), session("#include <random>")],
        [session("int operand(int);\nauto n = env.rand();\nRandom& random();")]),
    "deterministic_code_reads_no_environment": (
        [session('auto* h = getenv("HOME");'), session("extern char** environ;")],
        [session("Environment environment; // getenv")]),
    "deterministic_code_opens_no_sockets": (
        [session("#include <sys/socket.h>"), session("#include <boost/asio.hpp>"),
         session("#include <boost/beast/http.hpp>"), session("#include <netinet/in.h>")],
        [session("#include <boost/json.hpp>")]),
    "deterministic_code_has_no_unordered_containers": (
        [session("std::unordered_map<int, int> m;"), session("boost::unordered_flat_set<int> s;")],
        [session("std::map<int, int> m; // not unordered_map")]),
    "deterministic_code_prints_nothing": (
        [session("#include <iostream>"), session("std::cerr << 1;"), session('std::printf("x");'),
         session('fprintf(stderr, "x");')],
        [session('std::snprintf(b, 8, "x");')]),
    "pure_code_does_no_input_or_output": (
        [session("#include <fstream>"), session("#include <unistd.h>"),
         session('fopen("a", "r");')],
        [session("reopen(run);"), {"src/store/sqlite/a.cc": "// Files.\n#include <fcntl.h>\n"}]),
    "O35_api_has_no_persistence_and_no_status_rules": (
        [api('#include "store/store.h"'), api('#include "store/sqlite/engine.h"'),
         api("fsync(fd);"), api("store_->append(batch);"), api("if (s == Status::running) {}"),
         api('auto s = "interrupted_waiting";'), api("auto s = derive_status(x);"),
         api('#include "core/session/status.h"')],
        [api('#include "core/views/read_model.h"\nreply(model.status);')]),
    "O5_O24_each_component_stands_where_the_glossary_says_and_has_a_test_of_its_own": (
        [components(without="src/daemon/runtime/actor_test.cc"),
         components(text=("docs/glossary.md", "| Nobody | here |")),
         components(text=("src/core/session/status.h", "int other();")),
         components(text=("docs/glossary.md", "| RunStateProjector | `core/session/gone.h` |"))],
        [components()]),
    "O25_one_place_derives_status_and_storage_alone_syncs": (
        [api("if (s == Status::running) {}"), api("case Status::idle: return;"),
         api("fsync(fd);"), session("Status derive_early(const State& s) {\n}"),
         {"src/daemon/a.cc": "// Wires.\nfdatasync(fd);\n"}],
        [api("Status status = Status::idle;"), session("if (s == Status::running) {}"),
         {"src/store/sqlite/a.cc": "// Storage.\nfsync(fd);\n"},
         {"src/core/session/status.cc":
          "// Derives.\nStatus derive_status(const State& s) {\n}\n"}]),
    "the_page_keeps_its_import_table": (
        [{"web/src/core/b.ts": 'import { a } from "../ui/a";\n'},
         {"web/src/core/b.ts": 'const a = await import("../ui/a");\n'},
         {"web/src/ui/a.ts": 'import { b } from "./b";\n'},
         {"web/layers.txt": "core: ui\nui: core\n",
          "web/src/core/b.ts": 'export * from "../ui/a";\n'}],
        [{"web/src/ui/b.svelte": 'import a from "./a";\nimport d from "diff";\n'},
         {"web/src/main.ts": 'import "./ui/a";\n'}]),
    "texts_have_few_markers_of_translated_english": (
        [{"docs/a.md": "Whoever asks is told so.\n"}, session("// Nobody is there any more."),
         session('auto s = "there is no such record any more";')],
        [{"docs/a.md": "The daemon `is told whoever` asked.\n"}, session("nobody(any_more);")]),
    "every_header_has_pragma_once": (
        [{"src/core/session/a.h": "// A header.\nint a();\n"}], [{}]),
    "every_source_opens_with_what_it_is": (
        [{"src/core/session/a.cc": '#include "base/result.h"\n'},
         {"src/core/session/a.cc": "// a\n"},
         {"tools/a.sh": "#!/usr/bin/env bash\nset -euo pipefail\n"},
         {"tools/a.py": "#!/usr/bin/env python3\nimport os\n"}],
        [session("int a;"), {"tools/a.sh": "#!/usr/bin/env bash\n# Says what this script does.\n"},
         {"src/core/session/a.cc": '#include "core/session/a.h"\n',
          "src/core/session/a.h": "// Says what a is and what keeps it right.\n#pragma once\n"},
         {"tools/a.py": '"""Says what this module is for."""\n'}]),
    "lines_are_at_most_100_columns": (
        [session("// " + "x" * 98), {"tools/a.py": "#" * 101}],
        [session("// " + "x" * 97), session("// " + "é" * 97)]),
    "functions_are_at_most_70_lines": (
        [session(f"int f(int a) {{\n{lines(69)}}}"),
         session(f"namespace a {{\nstruct S {{\n  void g() const {{\n{lines(69)}}}\n}};\n}}"),
         session(f"S::S(int a)\n    : a_(a) {{\n{lines(69)}}}"),
         session(f"TEST(A, b) {{\n  if (x) {{\n{lines(66)}  }}\n\n}}")],
        [session(f"int f(int a) {{\n{lines(68)}}}"),
         session("enum class E {\n" + "  a,\n" * 100 + "};"),
         session("const int table[] = {\n" + "  f(1),\n" * 100 + "};"),
         session("namespace a {\n" + "int f();\n" * 100 + "}"),
         session("#define ROWS(ROW) \\\n" + "  ROW(a) \\\n" * 100 + "\nenum class A {\n  b\n};")]),
    "a_type_has_one_definition": (
        [{"src/core/session/a.h": "// One.\nnamespace perdure {\nstruct View {\n};\n",
          "src/base/b.cc": "// Two.\nnamespace perdure {\nclass View final : Base {\n};\n"}],
        [{"src/core/session/a.h": "// One.\nnamespace perdure {\nstruct View {\n};\n",
          "src/base/b.cc": "// Two.\nnamespace perdure {\nstruct View;\nnamespace {\n"
                           "struct View {\n};\n}  // namespace\n",
          "src/base/c.h": "// Three.\nnamespace perdure::acp {\nstruct View {\n};\n"}]),
    "file_names_say_what_is_inside": (
        [{"src/core/session/text_util.cc": "// Odds.\n"},
         {"src/core/session/helpers.h": "// Odds.\n"},
         {"src/core/session/session_manager.cc": "// Odds.\n"}, {"src/misc/a.cc": "// Odds.\n"}],
        [{"src/core/session/utilisation.cc": "// How full something is.\n"}]),
    "nothing_is_left_to_do_in_the_text": (
        [session("// TO" + "DO: more"), {"docs/a.md": "FIX" + "ME"},
         session("// TO" + "DO more"), session("int a;  // later, TO" + "DO(me)")],
        [session("// to do: nothing"), session('auto s = "TO' + 'DO";  // the state TO' + 'DO')]),
    "no_path_of_somebody_s_machine": (
        [session('auto p = "/wo' + 'rk/main";'), {"docs/a.md": "see /ho" + "me/someone/x"}],
        [session("// net/wo" "rk/a, ~/wo" "rk, frame/ho" "me/x, /ho" "me alone")]),
    "no_package_registry_is_named": (
        [{"tools/a.sh": "curl https://registry." + "example.org/x"}, {"a.md": "py" + "pi.org"}],
        [{"docs/a.md": "the registry, www.example.org, json.org"}]),
    "the_documents_stand_alone": (
        [{"docs/a.md": "see ../" + "shared/x"}, session("// as contract" + ".md says")],
        [{"docs/a.md": "docs/protocol/journal.md and docs/decisions/0001-the-design.md"}]),
    "links_between_documents_lead_somewhere": (
        [{"docs/a.md": "[b](b.md)"}],
        [{"docs/a.md": "[e](errors/not_found.md#x) [w](https://www.example.org/)"}]),
    "every_error_code_has_its_page": (
        [{"docs/errors/not_found.md": "# not_found\n"}, {"docs/errors/other.md": "# other\n"},
         {"src/base/error_codes.h": '// Two.\nROW(not_found, 404, not_found, "")\n'
                                    'ROW(internal, 500, failed, "")\n'},
         {"src/base/error_codes.h": '// Another status.\nROW(not_found, 410, not_found, "")\n'},
         {"src/base/error_codes.h": '// Actions.\nROW(not_found, 404, not_found, "retry")\n'}],
        [{}]),
    "the_http_page_lists_each_error_code_with_its_status": (
        [{"docs/protocol/http.md": "| 400 | `not_found` |\n"},
         {"docs/protocol/http.md": "\n"}], [{}]),
    "every_limit_is_published": (
        [{"docs/limits.md": "| name |\n"}, {"docs/limits.md": "| `depth_max` |\n| `gone_max` |\n"}],
        [{}]),
    "every_equivalent_mutant_stands_in_the_source": (
        [{"tools/mutants_equivalent.txt": "core/session/machine.cc | statement | gone(); | why\n"},
         {**session("here();"),
          "tools/mutants_equivalent.txt": "core/session/machine.cc | statement | gone(); | why\n"}],
        [{**session("if (a ||\n    b) here();"),
          "tools/mutants_equivalent.txt":
              "# lines\ncore/session/machine.cc | condition | a || b | why\n"}]),
    "the_list_of_requirements_is_whole": (
        [requirements(missing="O13"), {"docs/requirements.txt": "J1\n"},
         {"docs/requirements.txt": requirements()["docs/requirements.txt"] + "K1 Again.\n"}],
        [requirements()]),
    "every_invariant_is_explained": ([{"docs/invariants.md": "J1\n"}], [{}]),
    "scripts_stop_at_the_first_error": (
        [{"run": "#!/usr/bin/env bash\n# Runs.\necho\n"}],
        [{"run": "#!/usr/bin/env bash\n# Runs.\nset -euo pipefail\n"}]),
    "commits_have_an_imperative_subject_and_a_body": (
        [{"commits.txt": "wip\n"}, {"commits.txt": "store: read a page once\n"},
         {"commits.txt": "store: what is read\nA body of more than five words.\n"},
         {"commits.txt": "store: wip\nA body of more than five words.\n"},
         {"commits.txt": f"store: read {'x' * 70}\nA body of more than five words.\n"}],
        [{"commits.txt": "store: read a page once\nIt was read twice, which cost time.\n"}]),
}
