import Core

/// Why a worker was ended from here.
struct WorkerKill {
  var why: String
  /// The limit that it has reached; `nil`: it was to end.
  var code: FailureDetail.Code?

  /// Writes into its log where its threads stand, and kills it. Takes up to three seconds, in which it may end by
  /// itself.
  static func perform(_ child: ChildProcess, why: String, log: LogFile) {
    // Should it end meanwhile, its number may soon be that of another process.
    let beginning = ProcessHome.startTicks(child.id)
    log.write("scanmill: \(why); where the threads of process \(child.id) stand:")
    ThreadStacks.tell(of: child.id, write: { log.write($0) }) {
      (try? FileIdentity(of: log.path))?.bytes ?? 0
    }
    if ProcessHome.startTicks(child.id) == beginning { child.kill() }
  }
}
