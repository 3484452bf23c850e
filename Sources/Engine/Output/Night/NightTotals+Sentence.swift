import Core

/// What the page of the night, the service manager and the log say first, in the same words.
extension NightTotals {
  /// Captures that need a person.
  public var needed: Int { needPerson }

  /// `41 of 44 captures are ready. 2 need you, 1 is still arriving.`
  ///
  /// - Parameter nothingUrgent: nothing around the captures needs anybody either.
  public func sentence(nothingUrgent: Bool) -> String {
    var parts: [String] = []
    func add(_ count: Int, _ one: String, _ many: String) {
      if count > 0 { parts.append(Plural.text(count, one, many)) }
    }
    add(needed, "needs you", "need you")
    add(acknowledged ?? 0, "is marked", "are marked")
    add(arriving, "is still arriving", "are still arriving")
    add(running, "is being processed", "are being processed")
    add(queued, "waits", "wait")
    add(interrupted, "was interrupted", "were interrupted")
    add(skipped, "was skipped", "were skipped")
    add(unrecognized, "folder is not recognized", "folders are not recognized")
    if needed == 0, unrecognized == 0, nothingUrgent {
      parts.insert(captures == 0 ? "nothing was received" : "nothing needs you", at: 0)
    }
    let rest = parts.joined(separator: ", ")
    let first = "\(ready) of \(captures) captures are ready."
    return rest.isEmpty ? first : first + " " + rest.prefix(1).uppercased() + rest.dropFirst() + "."
  }
}
