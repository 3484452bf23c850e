import Engine

/// Which frames of a capture were picked, as the record of an artifact states it.
package struct PickedFrames: Hashable, Sendable {
  /// Canonical indices, ascending.
  package let frames: [Int]
  /// All that is stated, for records of artifacts made from this one.
  private let stated: [String: JSONValue]

  /// The key in records.
  private static let key = "picked"

  /// - Parameter facts: more about how they were picked.
  init(_ frames: [Int], _ facts: [String: JSONValue]) {
    self.frames = frames
    stated = facts.merging(["frames": .array(frames.map { .integer(Int64($0)) })]) { $1 }
  }

  /// From the record of an artifact; `nil` if nothing was picked.
  init?(_ record: ArtifactRecord) {
    guard case .object(let stated)? = record.recorded[Self.key],
      case .array(let numbers)? = stated["frames"]
    else { return nil }
    frames = numbers.compactMap { number in
      if case .integer(let value) = number { Int(exactly: value) } else { nil }
    }
    self.stated = stated
  }

  /// What goes into the record.
  package var recorded: [String: JSONValue] { [Self.key: .object(stated)] }
}
