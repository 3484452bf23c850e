extension StreamState {
  /// The state with another value.
  func map<Other>(_ transform: (Value) -> Other) -> StreamState<Other> {
    switch self {
    case .absent(let why): .absent(why)
    case .unreadable(let error): .unreadable(error)
    case .present(let value): .present(transform(value))
    }
  }
}
