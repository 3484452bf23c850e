extension ExitStatus {
  /// Every code with what it means in one sentence without a full stop, in the order of the numbers: for manual
  /// pages and help.
  public static let meanings: [(code: Int, meaning: String)] = [
    (success, "Everything asked for is done, or there was nothing to do"),
    (
      jobFailed,
      "At least one job failed or was blocked; with --exit-code, something needs a person"
    ),
    (usage, "The command line is wrong"),
    (noCapture, "What was named is not a readable capture"),
    (internalError, "An internal error: please report it"),
    (
      cannotWrite,
      "The output cannot be written: disk full, output gone or moved, a device error on its side"
    ),
    (locked, "Another run holds the lock, or the cluster cannot be reached"),
    (badPipeline, "A pipeline file or another configuration file is invalid"),
    (interrupted, "Interrupted (SIGINT)"),
    (terminated, "Terminated (SIGTERM)"),
  ]
}
