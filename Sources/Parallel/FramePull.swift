import Dispatch
import Synchronization

/// Works through an ordered source with several workers: one worker at a time pulls the next item, all
/// others meanwhile work on theirs.
///
/// Decoding, conversion, encoding and writing overlap this way without a queue: at most one item per
/// worker exists, so memory is constant in the number of items. The order in which items are finished
/// is not defined; `work` gets everything that names its output with the item.
///
/// - Parameters:
///   - workers: how many items may be in flight; never more than the share of `budget` at the time, so
///     that buffers are sized by what the work may use, not by the machine.
///   - budget: each pull and each piece of work holds one of its tokens.
///   - precedence: how those are waited for.
///   - makeScratch: called once per worker, for buffers that are used again from item to item.
///   - next: the next item, or `nil` at the end; never called by two workers at once, nor after it
///     has returned `nil` or thrown.
///   - work: what to do with an item.
///
/// After the first error no further item is pulled; items in flight are finished; the error that
/// concerns the earliest item is thrown.
public func pullFrames<Item, Scratch: ~Copyable>(
  workers: Int, budget: CoreBudget, precedence: CorePrecedence = .inTurn,
  makeScratch: @Sendable () throws -> Scratch,
  next: @Sendable (inout Scratch) throws -> Item?,
  work: @Sendable (Item, inout Scratch) throws -> Void
) throws {
  let turns = Turns()
  withoutActuallyEscaping(makeScratch) { makeScratch in
    withoutActuallyEscaping(next) { next in
      withoutActuallyEscaping(work) { work in
        HelperTeam.perform(
          max(1, workers), atOnce: min(HelperTeam.mostAtOnce, budget.share)
        ) { _, crew in
          // Late: nothing is left for whom buffers would be made.
          guard !turns.isOver else { return }
          var number = Int.max
          do {
            var scratch = try makeScratch()
            var goesOn = true
            while goesOn {
              // The turn first, the core second: who waits for its turn holds none. The core is kept
              // for the work, since every change of hands may leave one idle for a while.
              turns.begin()
              number = .max
              crew.widen(to: min(HelperTeam.mostAtOnce, budget.share))
              goesOn = try budget.withCore(precedence) {
                let pulled = try turns.pull { try next(&scratch) }
                guard let pulled else { return false }
                number = pulled.number
                try work(pulled.item, &scratch)
                return true
              }
            }
          } catch {
            turns.record(error, at: number)
          }
        }
      }
    }
  }
  if let failure = turns.failure { throw failure }
}

/// Lets one worker at a time pull, and keeps the earliest failure.
///
/// A lock alone would do, were it not that waiting for one burns a core on Linux for as long as its
/// holder runs (the kernel spins on priority-inheriting locks), which here is the decoding of a picture:
/// 7 % of all CPU time of a color export. Waiting for a semaphore sleeps.
private final class Turns: Sendable {
  private struct State {
    var pulled = 0
    var isOver = false
    var failure: (any Error)?
    var failedAt = Int.max

    mutating func record(_ error: any Error, at number: Int) {
      isOver = true
      guard failure == nil || number < failedAt else { return }
      failure = error
      failedAt = number
    }
  }

  private let isFree = DispatchSemaphore(value: 1)
  private let state = Mutex(State())

  /// Waits for a turn, which the next `pull` of the same worker ends.
  func begin() { isFree.wait() }

  /// Pulls unless it is over, and ends the turn. An error is recorded before the turn ends, so that nobody
  /// pulls after it.
  func pull<Item>(_ next: () throws -> Item?) throws -> (number: Int, item: Item)? {
    defer { isFree.signal() }
    let number: Int? = state.withLock { $0.isOver ? nil : $0.pulled }
    guard let number else { return nil }
    do {
      let item = try next()
      state.withLock { state in
        if item == nil { state.isOver = true } else { state.pulled += 1 }
      }
      return item.map { (number, $0) }
    } catch {
      record(error, at: number)
      throw error
    }
  }

  func record(_ error: any Error, at number: Int) {
    state.withLock { $0.record(error, at: number) }
  }

  var isOver: Bool { state.withLock { $0.isOver } }

  var failure: (any Error)? { state.withLock { $0.failure } }
}
