/// A stream of a capture: there, never recorded, or there but not readable.
///
/// A missing stream makes the stages that need it not applicable; an unreadable one fails them.
public enum StreamState<Value: Sendable>: Sendable {
  /// Not part of this capture; the text says why ("the family has no depth", "no file x.imu").
  case absent(String)
  case unreadable(CaptureError)
  case present(Value)

  /// The stream, if it is there and readable.
  public var value: Value? {
    if case .present(let value) = self { value } else { nil }
  }

  /// The error of an unreadable stream.
  public var error: CaptureError? {
    if case .unreadable(let error) = self { error } else { nil }
  }
}
