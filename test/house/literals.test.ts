import ts from 'typescript'
import { expect, test } from 'vitest'
import { sourceRows } from '../../config/sources.ts'
import { places, readSources, type SourceFile, textsOf } from '../support/source-files.ts'

/** Names of sources that mean something else in some files, with a pattern of those files' paths. */
const otherWords: Record<string, RegExp> = {
  identity:
    /^(net|hosts)\/|^api\/http\/|^enrichment\/agent-uri\/data-uri\.ts$|^enrichment\/identity\/identities\.ts$|^db\/queries\/sql\/enriched-fields\.ts$/, // encodings, a column
  codehost: /^api\/(pages\/directory\/filters|routes\/directory\/discovery)\.ts$/, // a filter of the API
  agent_uri: /^db\/queries\/sql\//, // a field of a registration
}
const selectors = /\b(0x|\\x)?(e3ee160e|ef55bec6|cf092995|88b7ab63)\b/i
/** The one file that may contain the four selectors. */
const selectorHome = 'abi/selectors.ts'
/** Statuses of overload and outage, and codes of JSON-RPC errors without their sign. */
const failures = /^(429|50[234]|52[0-49]|530|32\d{3})$/
/** The one file that may contain them. */
const meaningHome = 'hosts/meaning.ts'

test('the name of a source stands in the table of sources alone', async () => {
  const wrong = (await product()).flatMap((file) =>
    places(file, (node) => textsOf(node).some((text) => namesSource(file.path, text))),
  )
  expect(wrong).toEqual([])
})

test('a selector of a settlement stands in one file', async () => {
  const wrong = (await product())
    .filter(({ path }) => path !== selectorHome)
    .flatMap((file) => places(file, (node) => textsOf(node).some((text) => selectors.test(text))))
  expect(wrong).toEqual([])
})

test('what a status or a JSON-RPC code of a chain’s source means stands in one file', async () => {
  const ofSources = (await product()).filter(
    ({ path, room }) => ['processors', 'hosts'].includes(room) && path !== meaningHome,
  )
  const wrong = ofSources.flatMap((file) =>
    places(file, (node) => ts.isNumericLiteral(node) && failures.test(node.text)),
  )
  expect(wrong).toEqual([])
})

/** Whether a text is the name of a source, or has one in quotes, as SQL does. */
function namesSource(path: string, text: string): boolean {
  return sourceRows
    .filter(({ name }) => !otherWords[name]?.test(path))
    .some(({ name }) => text === name || text.includes(`'${name}'`))
}

/** Sources of the product, without the table itself, tests, benchmarks, the local world and generated files. */
async function product(): Promise<SourceFile[]> {
  const apart = ['test', 'bench', 'devnet']
  return (await readSources()).filter(
    ({ path, room }) => !apart.includes(room) && path !== 'config/sources.ts' && !path.includes('/generated/'),
  )
}
