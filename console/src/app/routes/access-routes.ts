// Routes of mailed links: accept an invitation, ask for a new password and choose it. None needs a session.
import { createRoute } from '@tanstack/react-router';
import { root } from './frame.ts';
import { screen } from './screen.ts';

const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitations/$token',
  component: screen(() => import('../../screens/sign-in/invitation.tsx'), 'Invitation'),
});

const forgotten = createRoute({
  getParentRoute: () => root,
  path: '/password-reset',
  component: screen(() => import('../../screens/sign-in/forgotten.tsx'), 'Forgotten'),
});

const newPassword = createRoute({
  getParentRoute: () => root,
  path: '/password-reset/$token',
  component: screen(() => import('../../screens/sign-in/new-password.tsx'), 'NewPassword'),
});

export const accessRoutes = [invitation, forgotten, newPassword] as const;
