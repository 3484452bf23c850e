#if canImport(Glibc)
  import Glibc
#endif

/// Whether the system can create more threads for this process.
enum ThreadSupply {
  /// Whether `count` more threads can be created now. Creates them and ends them, so the answer may
  /// be outdated in the next moment.
  ///
  /// Cost: about 20 µs a thread.
  static func gives(_ count: Int) -> Bool {
    var made: [pthread_t] = []
    defer { for thread in made { pthread_join(thread, nil) } }
    for _ in 0..<count {
      var thread = pthread_t()
      guard pthread_create(&thread, nil, { _ in nil }, nil) == 0 else { return false }
      made.append(thread)
    }
    return true
  }
}
