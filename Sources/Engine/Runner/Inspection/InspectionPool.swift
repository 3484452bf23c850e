import Core
import Synchronization
import SystemPackage

/// Processes that wait for questions.
final class InspectionPool: Sendable {
  private let program: FilePath
  private let arguments: [String]
  private let memoryBytes: Int64
  private let limits: LifeWatch.Limits
  private let idle = Mutex<[InspectionProcess]>([])

  /// Number of questions after which a new process takes the place of one: what a library leaks does not add up.
  private static let mostQuestions = 64

  init(program: FilePath, arguments: [String], memoryBytes: Int64, limits: LifeWatch.Limits) {
    self.limits = limits
    self.program = program
    self.arguments = arguments
    self.memoryBytes = memoryBytes
  }

  deinit {
    for process in idle.withLock({ $0 }) { process.dismiss() }
  }

  func take() throws(InspectionFailure) -> InspectionProcess {
    if let waiting = idle.withLock({ $0.popLast() }) { return waiting }
    do {
      return try InspectionProcess(
        program: program, arguments: arguments, memoryBytes: memoryBytes, limits: limits)
    } catch {
      throw InspectionFailure(
        kind: .other, problem: "no process could be started to look at it: \(error)")
    }
  }

  func giveBack(_ process: InspectionProcess) {
    if process.questions < Self.mostQuestions {
      idle.withLock { $0.append(process) }
    } else {
      process.dismiss()
    }
  }
}
