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
///   - workers: how many items may be in flight.
///   - budget: each pull and each piece of work holds one of its tokens.
///   - makeScratch: called once per worker, for buffers that are used again from item to item.
///   - next: the next item, or `nil` at the end; never called by two workers at once, nor after it
///     has returned `nil` or thrown.
///   - work: what to do with an item.
///
/// After the first error no further item is pulled; items in flight are finished; the error that
/// concerns the earliest item is thrown.
public func pullFrames<Item, Scratch: ~Copyable>(
  workers: Int, budget: CoreBudget,
  makeScratch: @Sendable () throws -> Scratch,
  next: @Sendable (inout Scratch) throws -> Item?,
  work: @Sendable (Item, inout Scratch) throws -> Void
) throws {
  let turn = Mutex(Turn())
  withoutActuallyEscaping(makeScratch) { makeScratch in
    withoutActuallyEscaping(next) { next in
      withoutActuallyEscaping(work) { work in
        DispatchQueue.concurrentPerform(iterations: max(1, workers)) { _ in
          var number = Int.max
          do {
            var scratch = try makeScratch()
            while true {
              // The turn first, the token second: who waits for its turn holds no core.
              var item: Item?
              try turn.withLock { turn in
                guard !turn.isOver else { return }
                number = turn.pulled
                // Over until proven otherwise: when `next` throws, nobody may pull after it, not even
                // before this worker has recorded the error.
                turn.isOver = true
                item = try budget.withCore { try next(&scratch) }
                guard item != nil else { return }
                turn.isOver = false
                turn.pulled += 1
              }
              guard let item else { return }
              try budget.withCore { try work(item, &scratch) }
            }
          } catch {
            turn.withLock { $0.record(error, at: number) }
          }
        }
      }
    }
  }
  if let failure = turn.withLock({ $0.failure }) { throw failure }
}

/// Who may pull next, and the earliest failure.
private struct Turn {
  var pulled = 0
  var isOver = false
  var failure: (any Error)?
  private var failedAt = Int.max

  mutating func record(_ error: any Error, at number: Int) {
    isOver = true
    guard failure == nil || number < failedAt else { return }
    failure = error
    failedAt = number
  }
}
