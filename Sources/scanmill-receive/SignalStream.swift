import Dispatch

#if canImport(Glibc)
  import Glibc
#endif

/// Signals as they come, instead of what they would do by themselves.
final class SignalStream: Sendable {
  let numbers: AsyncStream<Int32>
  private nonisolated(unsafe) let sources: [any DispatchSourceSignal]

  init(_ list: [Int32]) {
    let (stream, continuation) = AsyncStream<Int32>.makeStream()
    numbers = stream
    sources = list.map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { continuation.yield(number) }
      source.resume()
      return source
    }
  }
}
