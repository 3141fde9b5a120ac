"""Settings of nbgrader for a folder that `make classroom` has built.

What a submission does to the grader must cost its author what is wrong in it, and nobody else
anything. Each class below takes out one thing that nbgrader alone does not.
"""

import os
import shutil
import sys
from pathlib import Path

from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbconvert.preprocessors import ClearMetadataPreprocessor, CSSHTMLHeaderPreprocessor
from nbformat.v4 import new_output
from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    ClearHiddenTests,
    ClearOutput,
    DeduplicateIds,
    Execute,
    GetGrades,
    IgnorePattern,
    LimitOutput,
    NbGraderPreprocessor,
    OverwriteCells,
    OverwriteKernelspec,
    SaveAutoGrades,
)


def is_test(cell):
    return cell.metadata.get("nbgrader", {}).get("grade", False)


class DropEmptyIds(NbGraderPreprocessor):
    """A copied cell loses its second grade id to DeduplicateIds; what is left looks out of date."""

    def preprocess_cell(self, cell, resources, index):
        if cell.metadata.get("nbgrader") == {}:
            del cell.metadata["nbgrader"]
        return cell, resources


class ExecuteTheRest(Execute):
    """A cell that ends the kernel, or can't be interrupted, is left out and the rest runs again."""

    def preprocess(self, nb, resources, km=None):
        self.left_out = {}
        while True:
            try:
                return super().preprocess(nb, resources, km)
            except (DeadKernelError, CellTimeoutError) as error:
                if isinstance(error, CellTimeoutError):
                    what = "This cell did not end and could not be interrupted."
                else:
                    what = "This cell ended the kernel."
                self.left_out[self.at] = [
                    new_output("error", ename="LeftOut", evalue=what, traceback=[what])
                ]

    def preprocess_cell(self, cell, resources, index):
        self.at = index
        if index in self.left_out:
            cell.outputs = self.left_out[index]
            return cell, resources
        return super().preprocess_cell(cell, resources, index)


class DropStderr(NbGraderPreprocessor):
    """nbgrader gives 0 to a test cell with any stderr, be it a warning of NumPy."""

    def preprocess_cell(self, cell, resources, index):
        if is_test(cell):
            cell.outputs = [o for o in cell.get("outputs", []) if o.get("name") != "stderr"]
        return cell, resources


class LimitCharacters(NbGraderPreprocessor):
    """LimitOutput counts lines, so that one line of 100 MB goes through."""

    longest = 20_000

    def shortened(self, text):
        if len(text) <= self.longest:
            return text
        return text[: self.longest] + "\n... and more, left out ..."

    def preprocess_cell(self, cell, resources, index):
        for output in cell.get("outputs", []):
            if output.output_type == "stream":
                output.text = self.shortened(output.text)
            elif output.output_type == "error":
                output.evalue = self.shortened(output.evalue)
                output.traceback = [self.shortened(line) for line in output.traceback]
            else:
                for kind, text in output.data.items():
                    if isinstance(text, str):
                        output.data[kind] = self.shortened(text)
        return cell, resources


class KeepTheMessage(NbGraderPreprocessor):
    """Of a test's traceback a student gets the message, and no hidden test."""

    def preprocess_cell(self, cell, resources, index):
        for output in cell.get("outputs", []):
            if output.output_type == "error" and is_test(cell):
                output.traceback = [output.evalue or output.ename]
        return cell, resources


class ShortenPaths(NbGraderPreprocessor):
    """A traceback names numpy/linalg/__init__.py, and not where this machine keeps it."""

    folders = sorted((folder + os.sep for folder in sys.path if folder), key=len, reverse=True)

    def shortened(self, text):
        for folder in self.folders:
            text = text.replace(folder, "")
        return text

    def preprocess_cell(self, cell, resources, index):
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                output.traceback = [self.shortened(line) for line in output.traceback]
            elif output.output_type == "stream":
                output.text = self.shortened(output.text)
        return cell, resources


def only_the_page(assignment, student, notebooks):
    """nbgrader copies the companion to each student's feedback, too."""
    shutil.rmtree(Path("feedback", student, assignment, "companion"), ignore_errors=True)


c = get_config()  # noqa: F821  nbgrader defines it
c.CourseDirectory.course_id = "attention"

c.ClearSolutions.code_stub = {"python": "raise NotImplementedError"}

# STUDENT_exercises_02.ipynb; a browser makes "(1)" of a second download
c.ZipCollectApp.collector_plugin = "nbgrader.plugins.zipcollect.FileNameCollectorPlugin"
c.FileNameCollectorPlugin.named_regexp = (
    r".*[/\\](?P<student_id>[^/\\]+?)_(?P<file_id>exercises_\d\d)( ?\(\d+\))?\.ipynb$"
)

c.ExecuteTheRest.timeout = 30  # seconds a cell
c.ExecuteTheRest.extra_arguments = [
    # exit() would end the kernel after the cell has been answered, so that the next gets the blame
    "--IPKernelApp.exec_lines=type(get_ipython()).ask_exit = lambda shell: None",
]
if os.name == "posix":  # a list that grows for ever gets a MemoryError, not the whole machine
    limit = "__import__('resource').setrlimit(__import__('resource').RLIMIT_AS, (8 * 2**30,) * 2)"
    c.ExecuteTheRest.extra_arguments.append(f"--IPKernelApp.exec_lines={limit}")
c.OverwriteCells.add_missing_cells = True
c.Autograde.sanitize_preprocessors = [
    ClearOutput,
    DeduplicateIds,
    DropEmptyIds,
    OverwriteKernelspec,
    OverwriteCells,
    CheckCellMetadata,
]
c.Autograde.autograde_preprocessors = [
    ExecuteTheRest,
    DropStderr,
    LimitCharacters,
    IgnorePattern,
    ClearMetadataPreprocessor,
    LimitOutput,
    SaveAutoGrades,
    AssignLatePenalties,
    CheckCellMetadata,
]

c.GenerateFeedback.preprocessors = [
    GetGrades,
    ClearHiddenTests,
    KeepTheMessage,
    ShortenPaths,
    CSSHTMLHeaderPreprocessor,
]
c.GenerateFeedback.post_convert_hook = only_the_page
