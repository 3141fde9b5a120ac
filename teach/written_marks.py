"""Enter marks for written answers: `python written_marks.py ASSIGNMENT FILE.csv`.

The file has the columns student, exercise, points and comment, for instance
`ana,ex-values-1,2,clear`. Then `nbgrader generate_feedback` and `nbgrader export` know them.
"""

import csv
import sys

from nbgrader.api import Gradebook


def enter(assignment, path):
    with Gradebook("sqlite:///gradebook.db") as gradebook, open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            where = (f"{row['exercise']}-answer", assignment, assignment, row["student"])
            grade = gradebook.find_grade(*where)
            points = float(row["points"])
            if not 0 <= points <= grade.max_score:
                raise ValueError(
                    f"points must be 0 to {grade.max_score:g}; got {points:g} in {row}"
                )
            grade.manual_score, grade.needs_manual_grade = points, False
            gradebook.find_comment(*where).manual_comment = row["comment"]
        gradebook.db.commit()


if __name__ == "__main__":
    enter(*sys.argv[1:])
