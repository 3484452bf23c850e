import NIOPosix

/// Runs what waits for the disk on threads of its own, never on those that serve connections.
final class FileWork: Sendable {
  private let pool: NIOThreadPool

  init(threads: Int = 16) {
    pool = NIOThreadPool(numberOfThreads: threads)
    pool.start()
  }

  func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      pool.submit { _ in continuation.resume(returning: body()) }
    }
  }

  func attempt<Result: Sendable>(
    _ body: @escaping @Sendable () throws(UploadRefusal) -> Result
  ) async throws(UploadRefusal) -> Result {
    try await run { () -> Swift.Result<Result, UploadRefusal> in
      do throws(UploadRefusal) {
        return .success(try body())
      } catch {
        return .failure(error)
      }
    }.get()
  }

  func end() async { try? await pool.shutdownGracefully() }
}
