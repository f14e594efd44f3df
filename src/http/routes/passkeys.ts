// Routes of passkeys: created, renamed and removed by their user, and used to sign in.
import {
  neededRelyingParty,
  newChallenge,
  signatureOptions,
  verifyPasskey,
} from '../../access/passkey-proof.ts';
import {
  beginPasskey,
  changePasskeyName,
  createPasskey,
  deletePasskey,
} from '../../access/passkeys.ts';
import { openTicket, sealTicket, userOfPasskey } from '../../access/second-factor.ts';
import { passkeys } from '../../contract/sign-in.ts';
import { problem } from '../../model/problem.ts';
import { Answer, type Route, route } from '../edge/route.ts';
import { type LoginParts, signedIn } from './sign-in.ts';
import { auditFactor, ownerOf } from './second-factor.ts';

export function passkeyRoutes(parts: LoginParts): Route[] {
  return [...ownRoutes(parts), ...loginRoutes(parts)];
}

function ownRoutes(parts: LoginParts): Route[] {
  const { records, now, publicUrl } = parts;
  const asked = () => ({ party: neededRelyingParty(publicUrl()), now: now() });
  return [
    route(passkeys.begin, async ({ body: { password }, ip }, principal) => {
      const user = await ownerOf(parts, ip, principal, password);
      return beginPasskey(records, user, asked());
    }),
    route(passkeys.create, async (input, principal) => {
      if (!parts.localSignIn) throw problem('localSignInOff');
      const created = await createPasskey(records, principal, input.body, asked());
      await auditFactor(parts, input, principal, { field: 'passkey', after: input.body.name });
      return new Answer(201, created);
    }),
    route(passkeys.rename, ({ params: { id }, body: { name } }, { id: userId }) =>
      changePasskeyName(records, { id, userId, name }),
    ),
    route(passkeys.remove, async (input, principal) => {
      const { ip, body, params } = input;
      const user = await ownerOf(parts, ip, principal, body.password);
      await deletePasskey(records, { id: params.id, userId: user.id });
      await auditFactor(parts, input, principal, { field: 'passkey', before: params.id });
    }),
  ];
}

/** A passkey is two factors: the device, and the finger, face or PIN that it asks for. */
function loginRoutes(parts: LoginParts): Route[] {
  const { records, now, attempts, publicUrl, localSignIn } = parts;
  return [
    route(passkeys.request, async () => {
      if (!localSignIn) throw problem('localSignInOff');
      const challenge = newChallenge();
      const party = neededRelyingParty(publicUrl());
      const { ticket } = sealTicket(records.sealer, 'passkeySignIn', { challenge }, now());
      return { ticket, options: await signatureOptions(records.db, { challenge, party }) };
    }),
    route(passkeys.login, async (input) => {
      if (!localSignIn) throw problem('localSignInOff');
      const { body, ip } = input;
      const opened = openTicket(records.sealer, 'passkeySignIn', body.ticket, now());
      if (opened === undefined) throw problem('ticketExpired');
      const party = neededRelyingParty(publicUrl());
      const { challenge, issuedAt } = opened;
      const asked = { challenge, issuedAt, party, now: now() };
      // A refused one is an error, which uses up an attempt of the network.
      const passkey = await attempts.run(
        { ip },
        () => verifyPasskey(records.db, body.passkey, asked),
        () => false,
      );
      const user = await userOfPasskey(records.db, passkey);
      const { organizationId } = body;
      return signedIn(parts, input, { user, organizationId, signInKind: 'PASSKEY' });
    }),
  ];
}
