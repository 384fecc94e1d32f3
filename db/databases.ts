import pg from 'pg'
import type { Queryable } from './pool.ts'

/** Drops a database and disconnects its clients. Nothing happens when there is none of this name. */
export async function dropDatabase(db: Queryable, name: string): Promise<void> {
  await db.query(`drop database if exists ${pg.escapeIdentifier(name)} with (force)`)
}

/** Creates an empty database from template0: template1 may have been changed on this server. */
export async function createDatabase(db: Queryable, name: string): Promise<void> {
  await db.query(`create database ${pg.escapeIdentifier(name)} template template0 encoding 'UTF8'`)
}
