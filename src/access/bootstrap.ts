// Bootstrap: the first start creates an organization, a workspace, their owner and, on request, an API key.
import { randomBytes } from 'node:crypto';
import { defaultWorkspaceSettings, demoWorkspaceDraft, simulatedMark } from '../model/workspace.ts';
import { emailAddressOf } from '../model/user.ts';
import { databaseConnectorId, mailConnectorId, newId } from '../model/ids.ts';
import type { OutputConnector } from '../model/connector.ts';
import type { EpochMs } from '../model/instant.ts';
import { everyPermission } from '../model/principal.ts';
import { type Records, type RecordsDb, transaction } from '../storage/records/records.ts';
import { apiKeyRows } from '../storage/records/rows/credentials.ts';
import { userRows, organizationMemberRows } from '../storage/records/rows/users.ts';
import { organizationRows, workspaceRows } from '../storage/records/rows/workspaces.ts';
import { outputConnectorRows } from '../storage/records/rows/data-flows.ts';
import { secretHash, secretPrefix } from '../storage/records/secret-encryption.ts';
import { hashPassword, passwordWeakness } from './password.ts';

const passwordBytes = 18;

export interface Bootstrapped {
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly userId: string;
  /** Null when none was requested. */
  readonly apiKeyId: string | null;
  /** The random password of the owner, shown only once; null when the caller sent one. */
  readonly generatedPassword: string | null;
}

/** Returns why the password of the first start cannot be used. Later starts ignore the password. */
export async function ownerPasswordWeakness(
  { db }: Records,
  email: string,
  password: string | undefined,
): Promise<string | undefined> {
  if (password === undefined || (await organizationRows.any(db))) return undefined;
  return passwordWeakness(password, email);
}

/** Fills an empty database, all or nothing; undefined when it is not empty. */
export async function bootstrap(
  records: Records,
  settings: {
    readonly adminEmail: string;
    readonly adminPassword?: string | undefined;
    /** The secret of an API key with every permission in every workspace. */
    readonly adminApiKey?: string | undefined;
    /** Makes the first workspace the demo's, which `npm run demo` fills. */
    readonly demo?: boolean;
    readonly now: EpochMs;
  },
): Promise<Bootstrapped | undefined> {
  if (await organizationRows.any(records.db)) return undefined;
  const { password, generatedPassword } = passwordFrom(settings.adminPassword);
  const passwordHash = await hashPassword(password);
  const userId = newId('user');
  const organizationId = newId('organization');
  const workspaceId = newId('workspace');
  const { adminApiKey } = settings;
  const apiKeyId = (adminApiKey && newId('apiKey')) || null;
  const created = settings.now;
  const audit = { created, updated: null, version: 0 };
  const isFirst = await transaction(records.db, async ({ db: step }) => {
    // Another node may have been quicker.
    if (await organizationRows.any(step)) return false;
    const email = emailAddressOf(settings.adminEmail);
    await userRows.insert(step, {
      id: userId,
      name: 'Administrator',
      email,
      passwordHash,
      proven: true,
      ...audit,
    });
    const named = { description: null, ...audit };
    const tenant = {
      id: organizationId,
      name: 'Organization',
      logo: null,
      ownerId: userId,
      properties: null,
    };
    if (generatedPassword !== null) await userRows.insertFirstPassword(step, userId);
    await organizationRows.insert(step, { ...tenant, ...named });
    const member = { id: newId('member'), organizationId, userId, created, acceptedAt: created };
    await organizationMemberRows.insert(step, { ...member, role: 'OWNER' });
    await workspaceRows.insert(step, {
      id: workspaceId,
      organizationId,
      ...named,
      ...firstWorkspace(settings.demo ?? false),
    });
    for (const connector of builtInConnectors(created))
      await outputConnectorRows.insert({ db: step, sealer: records.sealer }, connector);
    if (adminApiKey && apiKeyId !== null)
      await insertAdminKey(step, { id: apiKeyId, organizationId, created }, adminApiKey);
    return true;
  });
  if (!isFirst) return undefined;
  return { organizationId, workspaceId, userId, apiKeyId, generatedPassword };
}

/** What is special to the first workspace: with `isDemo` its name, settings and mark are the demo's. */
function firstWorkspace(isDemo: boolean) {
  if (!isDemo) return { name: 'Workspace', properties: {}, settings: defaultWorkspaceSettings };
  const { settings, ...named } = demoWorkspaceDraft;
  return {
    ...named,
    properties: simulatedMark,
    settings: { ...defaultWorkspaceSettings, ...settings },
  };
}

/** The sent password, or a generated one. */
function passwordFrom(sent: string | undefined) {
  if (sent) return { password: sent, generatedPassword: null };
  const password = randomBytes(passwordBytes).toString('base64url');
  return { password, generatedPassword: password };
}

/** The connectors that every installation has. No workspace owns them, so that nobody can change them. */
function builtInConnectors(created: EpochMs): readonly OutputConnector[] {
  const common = {
    organizationId: null,
    workspaceId: null,
    sendConsecutiveAlerts: false,
    invokeRuleEngine: false,
    useCustomPayload: false,
    customPayload: null,
    properties: null,
    created,
    updated: null,
    version: 0,
  };
  return [
    { ...common, id: databaseConnectorId, name: 'Database', scope: 'DATA_FLOW', type: 'DATABASE' },
    {
      ...common,
      id: mailConnectorId,
      name: 'Mail of this installation',
      scope: 'RULE_ACTION',
      type: 'INSTALLATION_MAIL',
    },
  ];
}

async function insertAdminKey(
  db: RecordsDb,
  key: { readonly id: string; readonly organizationId: string; readonly created: EpochMs },
  secret: string,
): Promise<void> {
  await apiKeyRows.insert(db, {
    ...key,
    name: 'Administrator',
    description: 'Created at first start',
    allWorkspaces: true,
    workspaceIds: [],
    permissions: everyPermission,
    secretHash: secretHash(secret),
    secretPrefix: secretPrefix(secret),
    lastUsed: null,
    expiration: null,
  });
}
