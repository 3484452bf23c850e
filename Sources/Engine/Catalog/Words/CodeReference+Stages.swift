extension CodeReference {
  /// The states and outcomes of one stage, except those that have the name of a capture's state.
  static let stageStates: [(state: String, words: CodeWords)] = [
    (
      "missing",
      CodeWords(
        "The stage has not been run for this capture yet.",
        data: "Its results are not there.", remedy: "Run the same `scanmill run` command again.")
    ),
    (
      "stale",
      CodeWords(
        "The results of the stage were made from different input files, with different parameters, or by a different version.",
        data:
          "They are still there and consistent with each other, but a run would produce something else now.",
        remedy:
          "Run again; `scanmill explain CAPTURE STAGE --output DIR` says what differs.")
    ),
    (
      "not-applicable",
      CodeWords(
        "The capture has nothing for this stage: no depth, no motion sensors, no poses.",
        data: "There is no folder for this stage. Nothing is lost, and this is not a failure.",
        remedy:
          "There is nothing to do. If the capture should have it, `scanmill inspect` says what was found."
      )
    ),
    (
      "not-requested",
      CodeWords(
        "Nobody asked for the stage: the last run was about other stages, and no result of it is published.",
        data: "There is no folder for this stage. It counts nowhere, and nothing waits for it.",
        remedy:
          "There is nothing to do. To have it made, run again and name it: `--until STAGE`, or `--export NAME`."
      )
    ),
    (
      "up-to-date",
      CodeWords(
        "The results of the stage are what a run would produce now.",
        data: "They were left as they are.",
        remedy: "There is nothing to do. `-R STAGE` runs it anyway.")
    ),
    (
      "ran",
      CodeWords(
        "The stage was run and its results were published.", data: "The data can be used.",
        remedy: "There is nothing to do.")
    ),
    (
      "cancelled",
      CodeWords(
        "The stage was stopped, or not started, because the run ended before it.",
        data: "What was published before stays as it was.",
        remedy: "Run the same command again: it continues where it stopped.")
    ),
    (
      "locks-not-shared",
      CodeWords(
        "The file system of the output does not share locks between machines. Two runs worked on the same capture at the same time.",
        data: "What is published is complete; some of it was made twice.",
        remedy:
          "Do not let several machines process the same captures into this folder at the same time."
      )
    ),
  ]
}
