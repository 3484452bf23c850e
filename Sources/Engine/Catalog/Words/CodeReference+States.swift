extension CodeReference {
  /// The states of a capture, in their usual order.
  static let states: [(state: String, words: CodeWords)] = [
    (
      "arriving",
      CodeWords(
        "The upload is still in progress: a file changed a moment ago, or the folder holds a transfer's temporary file.",
        data: "Nothing is processed yet.",
        remedy: "Wait. If this lasts for hours, check the device that sends it.")
    ),
    (
      "stalled-upload",
      CodeWords(
        "The upload has begun and is not over, but nothing has come for the time given by --upload-timeout.",
        data: "Nothing is processed yet. What has come is not touched.",
        remedy:
          "Check the device that sends it and upload again. The capture is `arriving` again with the next byte."
      )
    ),
    (
      "incomplete",
      CodeWords(
        "The upload has stopped changing, and a file that this app always writes is missing.",
        data:
          "Nothing is processed yet. After the time given by --patience, the capture is processed as it is.",
        remedy:
          "Copy the missing files from the device. The capture is then picked up automatically.")
    ),
    (
      "unrecognized",
      CodeWords(
        "A folder with files, in which no capture of a known app was found.",
        data: "It is listed and never processed.",
        remedy:
          "Look at what it holds. Copy the capture again if files were left behind, or move the folder away."
      )
    ),
    (
      "queued",
      CodeWords(
        "The capture is complete and is waiting for a worker, the time window, disk space, or another run.",
        data: "Nothing is lost. Results that are already published stay until they are made again.",
        remedy: "Nothing to do while the watcher runs; otherwise `scanmill run` processes it.")
    ),
    (
      "running",
      CodeWords(
        "A worker is processing the capture now.",
        data: "Each result appears when it is complete.", remedy: "Wait.")
    ),
    (
      "done",
      CodeWords(
        "Everything that was asked for has been made and is up to date.",
        data: "The data can be used.",
        remedy: "Nothing to do.")
    ),
    (
      "done-with-warnings",
      CodeWords(
        "Everything that was asked for has been made, but something was unusual about the recording or the upload, or files were missing.",
        data: "The data can be used; the warnings say which frames or streams are affected.",
        remedy: "Read the warnings of the capture. `scanmill explain CODE` says what each means.")
    ),
    (
      "failed",
      CodeWords(
        "At least one stage of the capture failed or could not start.",
        data: "What the stage makes is missing; results of the other stages are there.",
        remedy:
          "The watcher tries it again at the time shown. Read the cause: it says what to do."
      )
    ),
    (
      "quarantined",
      CodeWords(
        "The capture failed in a way that trying again does not fix, so it is left alone.",
        data: "Nothing was moved or deleted; results of the stages that succeeded are there.",
        remedy:
          "It is tried again automatically when its files, the program or the pipeline change, or when `scanmill run` names it."
      )
    ),
    (
      "interrupted",
      CodeWords(
        "The run was stopped before the capture was done. This is not a failure.",
        data: "What was complete is kept.", remedy: "Run again: it continues where it stopped.")
    ),
    (
      "skipped",
      CodeWords(
        "The run left the capture out: another run held it, it is quarantined, or --fail-fast ended the run.",
        data: "Nothing in its results was changed.",
        remedy: "Run again without the selection, or later.")
    ),
    (
      "blocked",
      CodeWords(
        "A stage could not start because something that it needs failed.",
        data: "Its results are missing.",
        remedy: "Fix what failed first, then run again.")
    ),
  ]
}
