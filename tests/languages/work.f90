! SPDX-License-Identifier: GPL-2.0-or-later
! One of the programs of tests/languages/run. alpha has loops of its own, beta a
! function of the runtime's library, gamma the runtime's formats.
module work
  implicit none
  integer, parameter :: n = 100
  real(8) :: a(n, n), b(n, n), c(n, n)
contains
  real(8) function now()
    call cpu_time(now)
  end function

  subroutine leaf_multiply(p, q, r)
    real(8), intent(in) :: p(:, :), q(:, :)
    real(8), intent(out) :: r(:, :)
    integer :: i, j, k

    r = 0
    do i = 1, n
      do j = 1, n
        do k = 1, n
          r(i, j) = r(i, j) + p(i, k) * q(k, j)
        end do
      end do
    end do
  end subroutine

  subroutine alpha()
    call leaf_multiply(a, b, c)
  end subroutine

  subroutine beta()
    c = matmul(a, b)
    c = matmul(b, c)
    c = matmul(a, b)
    c = matmul(b, c)
  end subroutine

  subroutine gamma()
    integer :: i
    character(len=32) :: text

    do i = 1, 2000
      write (text, '(F20.10)') a(mod(i, n) + 1, 3) * i
    end do
  end subroutine
end module

program languages
  use work
  implicit none
  real(8) :: end_time = 1, t(4), spent(3) = 0
  integer :: rounds = 0
  character(len=32) :: argument

  if (command_argument_count() > 0) then
    call get_command_argument(1, argument)
    read (argument, *) end_time
  end if
  call random_number(a)
  call random_number(b)
  do while (now() < end_time)
    t(1) = now()
    call alpha()
    t(2) = now()
    call beta()
    t(3) = now()
    call gamma()
    t(4) = now()
    spent = spent + t(2:4) - t(1:3)
    rounds = rounds + 1
  end do
  print '(5(A, F0.6))', 'alpha ', spent(1), ' beta ', spent(2), &
    ' gamma ', spent(3), ' cpu ', now(), ' rounds ', real(rounds, 8)
end program
