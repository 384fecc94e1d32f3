import { compileContracts } from '../../../devnet/contracts/compile.ts'
import { onceARun } from '../once-a-run.ts'

/** Before the first test, because workers that begin together and find nothing kept would each compile for seconds. */
export default async function setup(): Promise<void> {
  await onceARun('compiled contracts', compileContracts)
}
