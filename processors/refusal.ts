/** What an operator has to know and decide about: shown as one line, without a stack, and the process ends. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
}
