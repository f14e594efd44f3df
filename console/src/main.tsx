// Entry of the console: styles, the cache of answers, and the router on the page's root.
import './design/fonts.css';
import './design/tokens.css';
import './design/base.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { answers } from './api/answers.ts';
import { followSystemTheme } from './design/theme.ts';
import { connection } from './live/connection.ts';
import { ToastRegion } from './parts/toasts.tsx';
import { router } from './router.tsx';
import { LanguageProvider } from './words/language.tsx';

followSystemTheme();
connection.followNetwork();
const root = document.getElementById('root');
if (root === null) throw new Error('the page has no element "root"');

createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={answers}>
      <LanguageProvider>
        <RouterProvider router={router} />
        <ToastRegion />
      </LanguageProvider>
    </QueryClientProvider>
  </StrictMode>,
);
