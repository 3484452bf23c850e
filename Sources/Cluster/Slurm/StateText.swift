/// Translates Slurm's state names.
enum StateText {
  private static let known: [String: TaskView.State] = [
    "PENDING": .pending,
    "RUNNING": .running,
    // Starting, ending or stopped on the node: the task has not ended.
    "COMPLETING": .running, "CONFIGURING": .running, "SUSPENDED": .running, "STOPPED": .running,
    "RESIZING": .running, "SIGNALING": .running, "STAGE_OUT": .running,
    "COMPLETED": .completed,
    "FAILED": .failed,
    "OUT_OF_MEMORY": .outOfMemory,
    "TIMEOUT": .timeout,
    "CANCELLED": .cancelled,
    "DEADLINE": .deadline,
  ]

  /// Ended or requeued for reasons unrelated to the program.
  private static let losses: Set<String> = [
    "NODE_FAIL", "BOOT_FAIL", "PREEMPTED", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED",
    "SPECIAL_EXIT", "LAUNCH_FAILED", "RECONFIG_FAIL", "POWER_UP_NODE",
  ]

  /// Parses `RUNNING` or `CANCELLED by 0`. Unknown names are preserved; `nil` if the text is not a
  /// state name.
  static func state(_ text: some StringProtocol) -> (state: TaskView.State, cancelledBy: String?)? {
    let words = text.split(separator: " ")
    guard var word: String = words.first.map({ String($0) }) else { return nil }
    // Some versions cut the name and end it with `+`.
    if word.hasSuffix("+") { word.removeLast() }
    guard !word.isEmpty, word.utf8.allSatisfy(isLetter) else { return nil }
    let by = words.count >= 3 && words[1] == "by" ? String(words[2]) : nil
    if let state = known[word] { return (state, state == .cancelled ? by : nil) }
    return (losses.contains(word) ? .lost(word) : .unknown(word), nil)
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || byte == UInt8(ascii: "_")
  }
}
