/** An error that only an operator can resolve: printed as one line, without a stack, and the process ends. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  /** No other attempt can change it. */
  readonly isFinal = true
}
