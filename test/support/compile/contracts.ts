import { compileContracts } from '../../../devnet/contracts/compile.ts'
import { onceARun } from '../once-a-run.ts'

/** Compiles before the first test: workers that start together without a cache would each compile for seconds. */
export default async function setup(): Promise<void> {
  await onceARun('compiled contracts', compileContracts)
}
