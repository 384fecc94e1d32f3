import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { readSources } from '../support/source-files.ts'

type Graph = Map<string, Set<string>>

test('no file imports itself over others, types included', async () => {
  const files = await importGraph((path) => path)
  expect(circles(files)).toEqual([])
})

test('no folder imports itself over others; a file next to folders stands for itself', async () => {
  const sources = await readSources()
  const parents = new Set(sources.map(({ path }) => dirname(dirname(path))))
  const folders = await importGraph((path) => (parents.has(dirname(path)) ? path : dirname(path)))
  expect(circles(folders)).toEqual([])
})

/** Imports in the product and the local world as a graph; `nodeOf`: the node that stands for a file. */
async function importGraph(nodeOf: (path: string) => string): Promise<Graph> {
  const sources = (await readSources()).filter(({ room }) => !['test', 'bench'].includes(room))
  const paths = new Set(sources.map(({ path }) => path))
  const graph: Graph = new Map()
  for (const { path, imports } of sources) {
    const node = nodeOf(path)
    const targets = graph.get(node) ?? new Set()
    for (const target of imports) if (paths.has(target) && nodeOf(target) !== node) targets.add(nodeOf(target))
    graph.set(node, targets)
  }
  return graph
}

/** Import cycles: groups of nodes that all reach each other, each as its sorted names. */
function circles(graph: Graph): string[] {
  const reached = new Map([...graph.keys()].map((node) => [node, reachableFrom(graph, node)]))
  const groups = [...graph.keys()].flatMap((node) => {
    const group = [...reached.get(node)!].filter((other) => reached.get(other)?.has(node))
    return reached.get(node)!.has(node) ? [group.sort().join(', ')] : []
  })
  return [...new Set(groups)]
}

function reachableFrom(graph: Graph, start: string): Set<string> {
  const reached = new Set<string>()
  const open = [start]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const target of graph.get(node) ?? []) {
      if (reached.has(target)) continue
      reached.add(target)
      open.push(target)
    }
  }
  return reached
}
