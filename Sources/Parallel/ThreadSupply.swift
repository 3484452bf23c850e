#if canImport(Glibc)
  import Glibc
#endif

/// Whether the system gives this process more threads.
enum ThreadSupply {
  /// Whether `count` threads can be had now, besides those that run: makes them and ends them. Somebody
  /// else may take them in the next moment.
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
