// Words of the parts that every screen uses.
import { wordSet } from '../words/word-set.ts';

export const partWords = wordSet(
  {
    failed: 'That did not work',
    forbidden: 'You are not allowed to see this',
    askOwner: 'Ask an owner of the organization.',
    request: 'Request',
    retry: 'Try again',
    copy: 'Copy',
    copied: 'Copied',
    copyCurl: 'Copy as curl',
    close: 'Close',
    undo: 'Undo',
    never: 'never',
  },
  {
    failed: 'Das hat nicht geklappt',
    forbidden: 'Das dürfen Sie nicht sehen',
    askOwner: 'Fragen Sie einen Eigentümer der Organisation.',
    request: 'Anfrage',
    retry: 'Noch einmal',
    copy: 'Kopieren',
    copied: 'Kopiert',
    copyCurl: 'Als curl kopieren',
    close: 'Schließen',
    undo: 'Rückgängig',
    never: 'nie',
  },
);
