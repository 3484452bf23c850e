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
///   - work: what to do with an item; called with the scratch that it was pulled with.
///
/// After the first error no further item is pulled; items in flight are finished; the error that
/// concerns the earliest item is thrown.
public func pullFrames<Item, Scratch: ~Copyable>(
  workers: Int, budget: CoreBudget, precedence: CorePrecedence = .inTurn,
  makeScratch: @Sendable () throws -> Scratch,
  next: @Sendable (inout Scratch) throws -> Item?,
  work: @Sendable (Item, inout Scratch) throws -> Void
) throws {
  try pullFrames(
    PullCoordinator<Item>(ahead: 0), workers: workers, budget: budget, precedence: precedence,
    makeScratch: makeScratch, next: next, work: work)
}

/// The same for items that any worker may work on, whoever pulled them: up to `ahead` of them wait for one
/// besides those in the workers' hands.
///
/// Where pulling takes about half of the time, workers that finish at the same moment find nobody has pulled
/// for them: with one waiting item two cores were busy for 1.96 of 2 seconds instead of 1.83, at times that
/// vary by a third from item to item; a second one gives 1.98.
public func pullFrames<Item: Sendable, Scratch: ~Copyable>(
  workers: Int, ahead: Int, budget: CoreBudget, precedence: CorePrecedence = .inTurn,
  makeScratch: @Sendable () throws -> Scratch,
  next: @Sendable (inout Scratch) throws -> Item?,
  work: @Sendable (Item, inout Scratch) throws -> Void
) throws {
  try pullFrames(
    PullCoordinator<Item>(ahead: max(0, ahead)), workers: workers, budget: budget,
    precedence: precedence, makeScratch: makeScratch, next: next, work: work)
}

private func pullFrames<Item, Scratch: ~Copyable>(
  _ desk: PullCoordinator<Item>, workers: Int, budget: CoreBudget, precedence: CorePrecedence,
  makeScratch: @Sendable () throws -> Scratch,
  next: @Sendable (inout Scratch) throws -> Item?,
  work: @Sendable (Item, inout Scratch) throws -> Void
) throws {
  withoutActuallyEscaping(makeScratch) { makeScratch in
    withoutActuallyEscaping(next) { next in
      withoutActuallyEscaping(work) { work in
        HelperThreads.perform(
          max(1, workers), atOnce: min(HelperThreads.mostAtOnce, budget.share)
        ) { _, crew in
          // Late: nothing is left for whom buffers would be made.
          guard !desk.isFinished else { return }
          var number = Int.max
          do {
            var scratch = try makeScratch()
            // Something to do first, the core second: who waits for it holds none. The core is kept from
            // pulling to working, since every change of hands may leave one idle for a while.
            while var step = desk.begin() {
              number = .max
              crew.widen(to: min(HelperThreads.mostAtOnce, budget.share))
              try budget.withCore(precedence) {
                while case .pull = step {
                  guard let following = try desk.pull({ try next(&scratch) }) else { return }
                  step = following
                }
                guard case .work(let item, let itsNumber) = step else { return }
                number = itsNumber
                try work(item, &scratch)
              }
            }
          } catch {
            desk.record(error, at: number)
          }
        }
      }
    }
  }
  if let failure = desk.failure { throw failure }
}
