// @ts-check
// node scripts/bootstrap.mjs <entry> [arguments]
//
// Runs one part of the project in whatever state the folder is, an empty clone included: installs the packages of
// package-lock.json when they are missing or do not fit, then runs the entry with the Node of those packages.
// This file must load in every Node, however old, so that the version is refused by a sentence.

const lowestNode = 20

if (Number(process.versions.node.split('.')[0]) < lowestNode) {
  console.error(`this project needs Node ${lowestNode} or newer; this is Node ${process.versions.node}`)
  process.exitCode = 1
} else {
  import('./launch.mjs').then(({ launch }) => launch(process.argv.slice(2)))
}
