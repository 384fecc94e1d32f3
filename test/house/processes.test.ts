import ts from 'typescript'
import { expect, test } from 'vitest'
import { places, readSources } from '../support/source-files.ts'

test('tests start the project’s mains by startMain alone: compiled once, with an environment of their own', async () => {
  const ofTests = (await readSources()).filter(({ path }) => path.startsWith('test/'))
  const wrong = ofTests.flatMap((file) =>
    places(file, (node) => ts.isStringLiteralLike(node) && ['tsx', '--import'].includes(node.text)),
  )
  const allowed = /^test\/(support\/mains|house\/processes\.test)\.ts:/
  expect(wrong.filter((place) => !allowed.test(place))).toEqual([])
})
