-- SPDX-License-Identifier: GPL-2.0-or-later
-- One of the programs of tests/languages/run. alpha calls a function in a loop, beta has
-- a map and texts, gamma sorts a list.
module Main where

import Control.Monad (zipWithM_)
import Data.Bits (shiftL, shiftR, xor, (.&.))
import Data.IORef (modifyIORef', newIORef, readIORef)
import Data.List (foldl', sort)
import qualified Data.Map.Strict as Map
import System.CPUTime (getCPUTime)
import System.Environment (getArgs)
import Text.Printf (printf)

leafHash :: Int -> Int -> Int
leafHash x n = go x 0
  where
    go :: Int -> Int -> Int
    go y i
      | y `seq` i >= n = y
      | otherwise = go (c + i) (i + 1)
      where
        a = y `xor` (y `shiftL` 13)
        b = a `xor` (a `shiftR` 7)
        c = b `xor` (b `shiftL` 17)
{-# NOINLINE leafHash #-}

alpha :: Int -> Int
alpha x = foldl' (\s i -> s + leafHash (x + i) 33000) 3 [1 .. 60]
{-# NOINLINE alpha #-}

beta :: Int -> Int
beta x = Map.size (foldl' count Map.empty [0 .. 3000])
  where
    count m i = Map.insertWith (+) (show ((x + i * 7919) `mod` 1500)) i m
{-# NOINLINE beta #-}

gamma :: Int -> Int
gamma x = sum (take 10 (sort [(i * 40503 + x) .&. 0xffff | i <- [0 .. 4000]]))
{-# NOINLINE gamma #-}

now :: IO Double
now = (\t -> fromIntegral t * 1e-12) <$> getCPUTime

main :: IO ()
main = do
  args <- getArgs
  let end = case args of
        (text : _) -> read text
        [] -> 1 :: Double
  spent <- mapM (const (newIORef 0)) [1 .. 3 :: Int]
  let rounds n s = do
        t0 <- now
        if t0 >= end
          then return (n, s)
          else do
            a <- return $! alpha s
            t1 <- now
            b <- return $! beta (s + a)
            t2 <- now
            c <- return $! gamma (s + b)
            t3 <- now
            zipWithM_ (\r d -> modifyIORef' r (+ d)) spent [t1 - t0, t2 - t1, t3 - t2]
            rounds (n + 1) (s + a + b + c)
  (n, s) <- rounds (0 :: Int) 1
  [a, b, c] <- mapM readIORef spent
  t <- now
  printf "sum %d\nalpha %f beta %f gamma %f cpu %f rounds %d\n" s a b c t n
