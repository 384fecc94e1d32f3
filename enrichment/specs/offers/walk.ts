import { documentWork } from '../../../config/limits.ts'
import { networkOf } from '../../networks.ts'
import { fieldsOf, type Meaning, means, membersOf } from './spellings.ts'
import { isPriceObject, noTerms, type Terms, termsOf } from './terms.ts'

/** Things within things that are looked at. */
const deepest = 4

/** One thing for sale and one way to pay for it; undefined in between: one more place was looked at. */
export type Found = Generator<Terms | undefined>

/** What a manifest or a demand for payment sells, by the meaning of its keys; `around`: what is known of it all. Never throws. */
export function* offersIn(document: unknown, around: Terms = noTerms): Found {
  const [inside = document] = wrapped(document)
  yield* within(inside, around, 0, false)
}

/** The document one level further in, when there is nothing for sale outside. */
function wrapped(document: unknown): readonly unknown[] {
  const members = membersOf(document)
  if (members.get('things') !== undefined || members.get('ways') !== undefined) return []
  return members.all('wrapper').flatMap((one) => (Array.isArray(one) ? [{ resources: one }] : [one]))
}

/** The things of a manifest, or the ways to pay for one that it demands. */
export function thingsOf(document: unknown): readonly unknown[] {
  const [inside = document] = wrapped(document)
  const { things, ways } = childrenOf(inside)
  return things.length > 0 ? withInner(things, 1) : ways
}

/** Whether a thing or a way to pay says what it costs, or how it is paid for; `around`: what is known of all of them. */
export function isPriced(thing: unknown, around: Terms = noTerms): boolean {
  return childrenOf(thing).ways.length > 0 || termsOf(thing, around).money !== null
}

/** What a document says of all that it sells; no terms: not where, nor whom, to pay. */
export function commonTerms(document: unknown): Terms {
  const terms = termsOf(document, noTerms)
  return terms.networks.length > 0 || terms.payTo !== null ? { ...terms, money: null } : noTerms
}

/** Things, those in their place that they hold. Beyond as many as are looked at for prices, a thing counts as one. */
function withInner(things: readonly unknown[], depth: number): readonly unknown[] {
  const opened = things.slice(0, documentWork.places).flatMap((thing) => {
    const inner = depth < deepest ? childrenOf(thing).things : []
    return inner.length > 0 ? withInner(inner, depth + 1) : [thing]
  })
  return [...opened, ...things.slice(documentWork.places)]
}

function* within(node: unknown, around: Terms, depth: number, isWay: boolean): Found {
  yield undefined
  const own = termsOf(node, around, isWay)
  const { things, ways } = depth < deepest ? childrenOf(node, beginning) : { things: [], ways: [] }
  if (things.length === 0 && ways.length === 0) yield own
  // Offers of MPP are in the smallest units of a currency: 100 may be a dollar.
  const isMpp = membersOf(node).get('mpp') !== undefined
  const forWays = isMpp ? { ...own, mayBeMinor: true, bareIsDollars: false } : own
  if (things.length === 0) for (const way of ways) yield* within(way, forWays, depth + 1, true)
  for (const thing of things) {
    // Ways that stand next to things hold for each of them that names none.
    const shared = childrenOf(thing, beginning).ways.length > 0 ? [] : ways
    if (shared.length === 0) yield* within(thing, own, depth + 1, false)
    else for (const way of shared) yield* within(thing, termsOf(way, own, true), depth + 1, false)
  }
}

/** What an object holds: things for sale, and ways to pay for it. A way that names what it is for is a thing among others. */
function childrenOf(node: unknown, { most, read }: Reach = whole): Children {
  const object = fieldsOf(node)
  const known = read.get(object) ?? readChildren(object, most)
  read.set(object, known)
  return known
}

interface Children {
  readonly things: readonly unknown[]
  readonly ways: readonly unknown[]
}

/** How much of each list is taken. An object is read once, however often it is come to: with each way that holds for it. */
interface Reach {
  readonly most: number
  readonly read: WeakMap<object, Children>
}

const whole: Reach = { most: Number.POSITIVE_INFINITY, read: new WeakMap() }
const beginning: Reach = { most: documentWork.places, read: new WeakMap() }

function readChildren(node: object, most: number): Children {
  const members = membersOf(node)
  const things = members.all('things').flatMap((one) => listOf(one, 'resource').slice(0, most))
  const ways = members
    .all('ways')
    .filter((one) => !isPriceObject(one))
    .flatMap((one) => listOf(one, 'network').slice(0, most))
    .filter((one) => typeof one === 'object')
  if (things.length === 0) return { things, ways }
  const isNamed = (way: unknown) => membersOf(way).get('resource') !== undefined
  return { things: [...things, ...ways.filter(isNamed)], ways: ways.filter((way) => !isNamed(way)) }
}

/** Entries of a list, of an object that is one entry, or of a map, whose keys name what its values lack. */
function listOf(value: unknown, keyIs: 'resource' | 'network'): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return []
  const known = lists[keyIs].get(value) ?? readList(value, keyIs)
  lists[keyIs].set(value, known)
  return known
}

/** Lists are read once, too: those of a whole description are next to each of its operations. */
const lists = {
  resource: new WeakMap<object, readonly unknown[]>(),
  network: new WeakMap<object, readonly unknown[]>(),
}

function readList(value: object, keyIs: 'resource' | 'network'): readonly unknown[] {
  if (Array.isArray(value)) return value.filter((one) => typeof one === 'string' || isObject(one))
  if (!isObject(value)) return []
  const members = membersOf(value)
  const isEntry = entryMarks.some((meaning) => members.get(meaning) !== undefined) || !isMap(value)
  if (isEntry) return [value]
  const common = ofAll.flatMap((meaning): [Meaning, unknown][] => {
    const said = members.get(meaning)
    return said === undefined || typeof said === 'object' ? [] : [[meaning, said]]
  })
  return Object.entries(value).flatMap(([key, one]) => {
    if (keyIs === 'network' && networkOf(key).chain === null && !isObject(one) && !isPath(key)) return []
    if (typeof one !== 'object' && means(key, ...ofAll)) return []
    const lacking = common.filter(([meaning]) => membersOf(one).get(meaning) === undefined)
    const named = {
      ...Object.fromEntries(lacking),
      ...(keyIs === 'network' && isNetworkName(key) ? { network: key } : { resource: key }),
    }
    if (Array.isArray(one)) return [{ ...named, accepts: one }]
    if (!isObject(one)) return [/^https?:/i.test(String(one)) ? { resource: one } : { ...named, price: one }]
    return [membersOf(one).get(keyIs) === undefined ? { ...one, ...named } : one]
  })
}

/** What a map may say of all its values: a name that is a spelling, too. */
const ofAll = ['currency', 'per', 'decimals'] as const satisfies readonly Meaning[]

const isNetworkName = (text: string) => {
  const { chain, testnet } = networkOf(text)
  return chain !== null || testnet !== null
}

const entryMarks: readonly Meaning[] = [
  'ways',
  'network',
  'payTo',
  'resource',
  'scheme',
  'usd',
  'units',
  'amount',
  'asset',
]

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether a key is a place: a path, with or without a method, or an address. */
const isPath = (key: string) => /^(\/|[A-Z]+ \/|https?:)/.test(key)

const isMap = (value: object) =>
  Object.entries(value).some(
    ([key, one]) => (typeof one === 'object' && one !== null && !means(key, 'price')) || isPath(key),
  )
