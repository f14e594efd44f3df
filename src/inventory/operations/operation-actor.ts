// In whose name an operation works on, also when its request was answered long ago or the platform started again in between.
import type { Actor } from '../../model/actor.ts';
import type { Records } from '../../storage/records/records.ts';
import { findApiKey, findOAuthClient } from '../../storage/records/rows/credentials.ts';
import { findOperation } from '../../storage/records/rows/operations.ts';
import { findUser } from '../../storage/records/rows/users.ts';

/** Undefined for an operation that is gone. Somebody who was deleted meanwhile is told by id. */
export async function actorOfOperation(
  { db }: Pick<Records, 'db'>,
  operationId: string,
): Promise<Actor | undefined> {
  const operation = await findOperation(db, operationId);
  if (operation === undefined) return undefined;
  const id = operation.creator;
  // Changes name the operation where those of a request name the request.
  const about = { id, requestId: operationId, ip: '' };
  const key = await findApiKey(db, id);
  if (key !== undefined) return { ...about, type: 'API_KEY', name: key.name };
  const client = await findOAuthClient(db, id);
  if (client !== undefined) return { ...about, type: 'OAUTH_CLIENT', name: client.name };
  return { ...about, type: 'USER', name: (await findUser(db, id))?.name ?? id };
}
