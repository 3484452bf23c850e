/// Removed intermediates that jobs of a capture need after all, and how often a job was started again because of one.
/// Pure.
struct DemandedInputs {
  private var names: Set<String> = []
  /// How often a job was started again because an input that had been there was removed.
  private var restarts: [String: Int] = [:]

  /// Only another run that works on the same output removes them. More often is no coincidence.
  private static let mostRestarts = 3

  /// What to do about a job that found inputs removed that are there by what the run knows.
  enum Answer: Hashable {
    /// They may have been built since it looked.
    case startAgain
    /// Another run has removed them.
    case buildAgain
    /// They are removed again and again.
    case giveUp
  }

  func contains(_ name: String) -> Bool { names.contains(name) }

  mutating func add(_ inputs: [String]) { names.formUnion(inputs) }

  mutating func restart(_ name: String) -> Answer {
    let times = restarts[name, default: 0]
    restarts[name] = times + 1
    if times == 0 { return .startAgain }
    return times <= Self.mostRestarts ? .buildAgain : .giveUp
  }
}
