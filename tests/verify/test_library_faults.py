"""What cannot be right about the libraries of a process, and what variables change about them."""

from __future__ import annotations

from msgspec.structs import replace

from gpuassist.verify.library_faults import clean_variables, difference_words, differences, faults_of, may_differ, torch_words
from gpuassist.verify.provenance import LoadedObject, NamedValue, Pinned, ProcessLibraries
from tests.verify.test_provenance import recorded

DRIVER = "/opt/driver/lib64"


def _stub() -> ProcessLibraries:
    stubs = "/usr/local/cuda/lib64/stubs"
    driver = LoadedObject(f"{stubs}/libcuda.so.1", f"{stubs}/libcuda.so.1", "libcuda.so.1", library="libcuda")
    program = LoadedObject("/usr/bin/python3", "/usr/bin/python3")
    return ProcessLibraries(objects=(program, driver), variables=(NamedValue("LD_LIBRARY_PATH", stubs),))


def test_sound_processes_have_no_fault() -> None:
    assert [faults_of(recorded(name)) for name in ("torch-1.13", "torch-2.6", "torch-2.10")] == [(), (), ()]


def test_parts_of_cudnn_from_elsewhere_are_told_with_the_problem() -> None:
    (fault,) = faults_of(recorded("cudnn-parts-by-variable"))
    directory = "/home/you/new/lib/python3.11/site-packages/nvidia/cudnn/lib"
    assert (fault.libraries[:2], fault.problem) == (("libcudnn", "libcudnn_graph"), "ld-library-path-shadows-bundled-libs")
    assert dict(fault.parameters) == {"library": "libcudnn_graph.so.9", "directory": directory}


def test_parts_that_would_end_the_process_are_told_before_they_are_loaded() -> None:
    (fault,) = faults_of(recorded("older-cudnn-awaited"))
    assert "libcudnn_graph" in fault.libraries
    assert fault.problem == "ld-library-path-shadows-bundled-libs"


def test_second_copy_and_a_version_older_than_pinned_are_told() -> None:
    twice, old = faults_of(recorded("older-curand-preloaded"))
    assert (twice.libraries, old.libraries) == (("libcurand",), ("libcurand",))
    assert dict(old.text.parameters)["wanted"] == "10.3.9.90"


def test_cudnn_older_than_pinned_names_its_own_problem() -> None:
    process = replace(recorded("torch-2.6"), wanted=(Pinned("nvidia-cudnn-cu12", "9.5.1.17"),))
    found = [fault for fault in faults_of(process) if fault.libraries == ("libcudnn",)]
    assert [(fault.problem, dict(fault.parameters)["built"]) for fault in found] == [("cudnn-version-mismatch", "9.5.1.17")]


def test_stub_for_the_driver_is_told() -> None:
    (fault,) = faults_of(_stub())
    assert (fault.problem, dict(fault.parameters)) == ("ld-library-path-stubs", {"directory": "/usr/local/cuda/lib64/stubs"})


# The same without the user's variables.


def test_variables_that_choose_libraries_go_and_the_drivers_directory_stays() -> None:
    mine = recorded("cudnn-parts-by-variable")
    library_path = next(one.value for one in mine.variables if one.name == "LD_LIBRARY_PATH")
    given = {"PATH": "/usr/bin", "LD_LIBRARY_PATH": library_path, "CUDA_HOME": "/x", "CUDA_VISIBLE_DEVICES": "1", "LD_PRELOAD": ""}
    kept, changed = clean_variables(given, mine)
    assert kept == {"PATH": "/usr/bin", "LD_LIBRARY_PATH": DRIVER, "CUDA_VISIBLE_DEVICES": "1"}
    assert changed == ("CUDA_HOME", "LD_LIBRARY_PATH")


def test_directory_of_the_driver_alone_changes_nothing() -> None:
    mine = recorded("torch-2.6")
    assert clean_variables({"LD_LIBRARY_PATH": DRIVER}, mine) == ({"LD_LIBRARY_PATH": DRIVER}, ())
    assert not may_differ(mine)


def test_process_that_a_variable_decides_on_may_differ() -> None:
    every = ("cudnn-parts-by-variable", "older-cudnn-awaited", "older-curand-preloaded")
    assert all(may_differ(recorded(name)) for name in every)
    assert may_differ(ProcessLibraries(error="ImportError: undefined symbol"))


def test_parts_that_change_places_together_are_one_sentence() -> None:
    found = differences(recorded("cudnn-parts-by-variable"), recorded("torch-2.6"))
    assert {(one.variable, one.older, one.mine.version, one.clean.version) for one in found} == {
        ("LD_LIBRARY_PATH", False, "9.10.2.21", "9.1.0.70")
    }
    (words,) = difference_words(found)
    assert dict(words.parameters)["variable"] == "LD_LIBRARY_PATH"


def test_older_library_is_said_to_be_older_than_what_torch_was_built_with() -> None:
    (one,) = differences(recorded("older-curand-preloaded"), recorded("torch-2.10"))
    assert (one.variable, one.older, one.wanted) == ("LD_PRELOAD", True, "10.3.9.90")
    (words,) = difference_words((one,))
    assert dict(words.parameters)["wanted"] == "10.3.9.90"


def test_same_libraries_are_no_difference() -> None:
    mine = recorded("torch-2.10")
    assert (differences(mine, mine), torch_words(mine, mine, ())) == ((), None)


def test_other_torch_is_told_once_and_not_by_its_libraries() -> None:
    mine, clean = recorded("torch-2.10"), recorded("torch-2.6")
    assert differences(mine, clean) == ()
    assert torch_words(mine, clean, ("PYTHONPATH",)) is not None


def test_import_that_works_in_one_of_the_two_is_told() -> None:
    broken, sound = ProcessLibraries(error="ImportError: undefined symbol: ncclCommShrink"), recorded("torch-2.10")
    told = [torch_words(*pair, ("LD_PRELOAD",)) for pair in ((broken, sound), (sound, broken), (broken, broken))]
    assert [words is not None and dict(words.parameters)["error"] for words in told] == [broken.error, broken.error, False]
