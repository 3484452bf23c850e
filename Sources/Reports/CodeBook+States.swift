extension CodeBook {
  /// The states of a capture, in the order in which it goes through them.
  static let states: [(state: String, words: CodeWords)] = [
    (
      "arriving",
      CodeWords(
        "The upload is going on: a file changed a moment ago, or a transfer's temporary file lies in the folder.",
        data: "Nothing is processed yet.",
        remedy: "Wait. If it stays so for hours, look at the device that sends it.")
    ),
    (
      "incomplete",
      CodeWords(
        "The upload has come to rest and a file is missing that this app always writes.",
        data: "Nothing is processed yet; after the time of --patience it is processed as it is.",
        remedy: "Copy the missing files from the device. The capture is picked up by itself.")
    ),
    (
      "unrecognized",
      CodeWords(
        "A folder with files in which no known app's capture was found.",
        data: "It is listed and never processed.",
        remedy:
          "Look at what it holds. Copy the capture again if files were left behind, or move the folder away."
      )
    ),
    (
      "queued",
      CodeWords(
        "The capture is whole and waits: for a worker, the time window, disk space, or another run.",
        data: "Nothing is lost; what is published of it stays until it is made again.",
        remedy: "Nothing to do while the watcher runs; otherwise `scanmill run` processes it.")
    ),
    (
      "running",
      CodeWords(
        "A worker processes the capture now.",
        data: "Each result appears when it is complete.", remedy: "Wait.")
    ),
    (
      "done",
      CodeWords(
        "Everything that was asked for is made and up to date.", data: "The data can be used.",
        remedy: "Nothing to do.")
    ),
    (
      "done-with-warnings",
      CodeWords(
        "Everything that was asked for is made; something was odd with the recording or the upload, or files were missing.",
        data: "The data can be used; the warnings say which frames or streams are concerned.",
        remedy: "Read the warnings of the capture. `scanmill explain CODE` says what each means.")
    ),
    (
      "failed",
      CodeWords(
        "At least one stage of the capture failed or could not start.",
        data: "What the stage makes is missing; results of the other stages are there.",
        remedy:
          "The watcher tries it again at the time that is told. Read the cause: it says what helps."
      )
    ),
    (
      "quarantined",
      CodeWords(
        "The capture failed so that trying again does not help; it is left alone.",
        data: "Nothing was moved or deleted; results of the stages that succeeded are there.",
        remedy:
          "It is tried again by itself when its files, the program or the pipeline change, or when `scanmill run` names it."
      )
    ),
    (
      "interrupted",
      CodeWords(
        "The run was stopped before the capture was done. This is no failure.",
        data: "What was complete stays.", remedy: "Run again: it goes on where it stopped.")
    ),
    (
      "skipped",
      CodeWords(
        "The run left the capture out: another run held it, or it was not selected.",
        data: "Nothing of it was changed.", remedy: "Run again without the selection, or later.")
    ),
    (
      "blocked",
      CodeWords(
        "A stage could not start because something that it needs failed.",
        data: "Its results are missing.",
        remedy: "Repair what failed first; then it runs by itself.")
    ),
  ]
}
