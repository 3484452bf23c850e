/// Whether a stream of a capture is available, absent or unreadable.
///
/// Stages that need an absent stream do not apply; stages that need an unreadable one fail.
public enum StreamState<Value: Sendable>: Sendable {
  /// The stream is not part of this capture; the text says why ("the family has no depth", "no file x.imu").
  case absent(String)
  case unreadable(CaptureError)
  case present(Value)

  /// The stream, if it is available.
  public var value: Value? {
    if case .present(let value) = self { value } else { nil }
  }

  /// The error of an unreadable stream.
  public var error: CaptureError? {
    if case .unreadable(let error) = self { error } else { nil }
  }
}
