/// Computes `body(0) … body(count - 1)` on all cores and returns the results in order.
///
/// Every iteration runs even if an earlier one throws; the error with the lowest index is thrown,
/// so that the outcome does not depend on timing. Each iteration holds a token of `budget`, if one
/// is given. Cost: one slot per iteration.
public func concurrentMap<Result: Sendable>(
  count: Int, budget: CoreBudget? = nil, _ body: @Sendable (Int) throws -> Result
) throws -> [Result] {
  let slots = SlotArray<Swift.Result<Result, any Error>>(count: count)
  let atOnce = min(HelperThreads.mostAtOnce, budget?.share ?? .max)
  withoutActuallyEscaping(body) { body in
    HelperThreads.perform(count, atOnce: atOnce) { index, _ in
      let outcome = Swift.Result {
        if let budget { try budget.withCore { try body(index) } } else { try body(index) }
      }
      slots.fill(index, with: outcome)
    }
  }
  return try slots.take().map { try $0.get() }
}

/// The results for all elements of `list`, in order. Each core takes `share` elements at a time: handing them out one
/// by one may cost as much as the work on one.
public func concurrentMap<List: RandomAccessCollection & Sendable, Result: Sendable>(
  _ list: List, share: Int, budget: CoreBudget? = nil,
  _ body: @Sendable (List.Element) throws -> Result
) throws -> [Result] {
  try concurrentMap(count: (list.count + share - 1) / share, budget: budget) { part in
    try list.dropFirst(part * share).prefix(share).map(body)
  }.flatMap(\.self)
}

/// `count` slots, each written by one iteration only and read after all are done.
final class SlotArray<Element: Sendable>: Sendable {
  // Safe: `fill` is called once per index, and `take` after every call of `fill` has returned.
  private nonisolated(unsafe) let storage: UnsafeMutableBufferPointer<Element?>

  init(count: Int) {
    storage = .allocate(capacity: count)
    storage.initialize(repeating: nil)
  }

  deinit {
    storage.deinitialize()
    storage.deallocate()
  }

  func fill(_ index: Int, with element: Element) {
    storage[index] = element
  }

  func take() -> [Element] { storage.compactMap { $0 } }
}
