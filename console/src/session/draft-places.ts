// Draft places: where the browser keeps edits that are not saved, and how all of them end.

const prefix = 'draft ';

/** Key of the storage for the edits of a record. */
export function draftPlace(key: string): string {
  return `${prefix}${key}`;
}

/** Whether this browser keeps edits under the key. */
export function hasDraft(key: string): boolean {
  const place = draftPlace(key);
  return localStorage.getItem(place) !== null || sessionStorage.getItem(place) !== null;
}

/** The next user of this browser does not see the edits of the one who signed out. */
export function discardDrafts(): void {
  for (const storage of [localStorage, sessionStorage])
    for (const place of Object.keys(storage))
      if (place.startsWith(prefix)) storage.removeItem(place);
}
