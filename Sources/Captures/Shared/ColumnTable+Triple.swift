import Media

extension ColumnTable {
  /// Three cells of a row that belong together, such as x, y and z of a sensor.
  enum Triple: Equatable {
    case values(Double, Double, Double)
    /// No cell has text.
    case empty
    /// All are numbers, at least one of them not finite.
    case nonFinite
    /// A cell lacks, or is no number.
    case invalid
  }

  /// The numbers in three columns of the current row.
  func triple(_ columns: [Int]) -> Triple {
    let (x, y, z) = (number(columns[0]), number(columns[1]), number(columns[2]))
    if case .finite(let x) = x, case .finite(let y) = y, case .finite(let z) = z {
      return .values(x, y, z)
    }
    let all = [x, y, z]
    if all.allSatisfy({ $0 == .empty }) { return .empty }
    if all.contains(.empty) || all.contains(.invalid) { return .invalid }
    return .nonFinite
  }
}
